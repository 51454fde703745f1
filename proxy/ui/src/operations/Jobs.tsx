import { ListChecks } from "lucide-react";
import { useState } from "react";
import { type Job, readAdministrationAgain, useJobs } from "../api/administration";
import { bodyOf, inProject, POST } from "../api/client";
import { asSentence, sentence } from "../api/problem";
import { Button } from "../components/Button";
import { type Column, DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Section } from "../components/Page";
import { Progress } from "../components/Progress";
import { Tag } from "../components/Tag";
import { showErrorToast, showToast } from "../components/toast";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import style from "./Operations.module.css";

const t = pageMessages.operations;

/** Pending and running background jobs. */
export function Jobs({ project }: { project: string }) {
  const jobs = useJobs(project);
  const [isStarting, setStarting] = useState(false);
  if (jobs.data === null) return null;
  const start = async () => {
    setStarting(true);
    try {
      const started = await bodyOf(POST("/v1/jobs/retry", { params: { header: inProject(project) } }));
      showToast(t.started(started.count));
      await readAdministrationAgain();
    } catch (error) {
      showErrorToast(sentence(error));
    }
    setStarting(false);
  };
  const hasFailed = jobs.data?.some(({ state }) => state === "failed");
  return (
    <Section
      title={t.jobs}
      lead={t.jobsLead}
      actions={
        hasFailed && (
          <Button onPress={start} isDisabled={isStarting}>
            {t.runAgain}
          </Button>
        )
      }
    >
      {jobs.isError && <Failure error={jobs.error} retry={() => jobs.refetch()} />}
      {jobs.isPending && <Skeleton lines={2} />}
      {jobs.data?.length === 0 && <Empty icon={ListChecks} title={t.noJobs} isPart />}
      {jobs.data && jobs.data.length > 0 && (
        <DataTable label={t.jobs} columns={COLUMNS} rows={jobs.data} rowKey={({ id }) => id} />
      )}
    </Section>
  );
}

const KINDS = { pending: "plain", running: "good", failed: "bad" } as const;

const COLUMNS: Column<Job>[] = [
  {
    id: "job",
    title: t.job,
    cell: ({ kind, attribute, state, error, hint }) => (
      <div>
        {t.kinds[kind](attribute)}
        {error !== null && <span className={`${style.small} ${style.red}`}>{asSentence(error)}</span>}
        {hint !== null && (
          // The hint of a failed job is an SQL statement, so the page shows its own.
          <span className={style.small}>{state === "failed" ? t.removeCause : asSentence(hint)}</span>
        )}
      </div>
    ),
  },
  { id: "template", title: t.template, cell: ({ template }) => <code>{template}</code> },
  {
    id: "state",
    title: t.state,
    cell: ({ state, attempts }) => (
      <div>
        <Tag kind={KINDS[state]}>{t.states[state]}</Tag>
        {attempts > 0 && <span className={style.small}>{t.attempts(attempts)}</span>}
      </div>
    ),
  },
  {
    id: "progress",
    title: t.progress,
    cell: ({ state, progress, phase, records_done, records }) =>
      state === "running" && (
        <div className={style.progress}>
          <Progress
            label={phase ?? t.states.running}
            value={progress}
            {...(records === null ? {} : { text: t.progressOf(records_done, records) })}
          />
        </div>
      ),
  },
  { id: "since", title: t.since, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
];
