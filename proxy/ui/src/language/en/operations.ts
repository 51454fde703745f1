/** The words of src/operations. */
import { count, number } from "../plural";

export const operations = {
  title: "Operations",
  lead: "Health of the service and its background jobs.",
  service: "Service",
  ready: "Ready",
  notReady: "Not ready",
  readyHint: (version: string, extension: string) =>
    `Service ${version}, extension ${extension}. The database is reachable and up to date.`,

  findings: "Findings",
  findingsLead: "Problems found in the database, and how to fix them.",
  examine: "Check again",
  examining: "Checking",
  nothingFound: "No problems found.",
  severities: { error: "Errors", warning: "Warnings", note: "Notes" },
  foundBy: (check: string) => `Check: ${check}`,
  whatToDo: "What to do",
  remedy: "the fix",
  checks: (sound: number, all: number) => `${sound} of ${count(all, "check")} passed`,
  checkStates: { sound: "Passed", found: "Problem found", unseen: "No access" },
  checkList: "Checks",
  check: "Check",
  state: "State",
  unlimitedOnly: "Findings are available only to keys with access to all projects.",

  jobs: "Background jobs",
  jobsLead: "Work still in progress after template changes. Reads and writes continue in the meantime.",
  noJobs: "No pending or running jobs.",
  job: "Job",
  template: "Template",
  kinds: {
    index: (attribute: string | null) =>
      attribute === null ? "Build an index" : `Build the index of ${attribute}`,
    documents: () => "Rebuild the search index",
    embeddings: () => "Queue text for embedding",
    series: () => "Delete points of dropped metrics",
  },
  states: { pending: "Waiting", running: "Running", failed: "Failed" },
  progress: "Progress",
  progressOf: (done: number, all: number | null) =>
    all === null ? count(done, "record") : `${number(done)} of ${count(all, "record")}`,
  since: "Since",
  attempts: (n: number) => `failed ${n === 1 ? "once" : `${n} times`}`,
  removeCause: "Fix the cause, then run the job again.",
  runAgain: "Run failed jobs again",
  started: (n: number) => (n === 0 ? "There are no failed jobs." : `${count(n, "job")} will run.`),

  embedding: "Embedding",
  embeddingLead: "Text in records is embedded as vectors for search by meaning.",
  embedded: (done: number, all: number) => `${number(done)} of ${count(all, "record")}`,
  waiting: (n: number) => `${number(n)} waiting`,
  running: (n: number) => `${number(n)} being embedded`,
  givenUp: (n: number) => `${number(n)} failed`,
  setManually: (n: number) => `${count(n, "vector")} set manually`,
  nextAt: (when: string) => `next attempt ${when}`,
  oldest: (when: string) => `oldest from ${when}`,
  models: (models: string) => `Model ${models}`,
  mixedModels: (models: string) =>
    `Vectors of different models (${models}) cannot be compared. Embed all records again with keyed.reembed.`,
  noEmbedding:
    "No template has embedded attributes. To search by meaning, choose them in the settings of a template.",
  failures: "Failed records",
  record: "Record",
  failedAt: "Failed",
  nextTry: "Next attempt",
  noRetry: "None",
  reason: "Reason",
  retry: "Retry failed records",
  retried: (n: number) => `${count(n, "record")} will be embedded again.`,
};
