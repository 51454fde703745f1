/** The words of src/files. */
import { count, number } from "../plural";

const rows = (n: number) => count(n, "row");

/** 1536000 → "1.5 MB" */
function size(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB"];
  const step = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** step;
  const digits = step === 0 || value >= 100 ? 0 : 1;
  return `${number(Number(value.toFixed(digits)))} ${units[step]}`;
}

type Format = {
  date?: string;
  datetime?: string;
  decimal?: string;
  thousands?: string;
  list?: string;
  true?: string | string[];
  false?: string | string[];
};

const marks: Record<string, string> = {
  "": "None",
  ".": "Point",
  ",": "Comma",
  " ": "Space",
  "'": "Apostrophe",
  "\u00b7": "Middle dot",
  "\u066b": "Arabic decimal mark",
};

const mark = (id: string) => (marks[id] ?? id).toLowerCase();

export const files = {
  size,
  rows,
  title: "Files",
  lead: "Import records from CSV or NDJSON files, and export them.",
  importTitle: (template: string) => `Import into ${template}`,
  importLead: "Nothing is written before the last step.",
  steps: { file: "File", columns: "Columns", trial: "Check", run: "Import" },
  stepOf: (position: number, of: number) => `Step ${position} of ${of}`,

  dropTitle: "Drop a file anywhere on this page",
  dropHint:
    "CSV (comma, semicolon, tab or pipe; UTF-8, Windows-1252 or UTF-16) or NDJSON of any size, or JSON.",
  chooseFile: "Choose a file",
  chooseOther: "Choose another file",
  notAFile: "This is not a file. Drop a CSV or NDJSON file.",
  unreadable: "The browser cannot read this file. It may have been moved or changed. Choose it again.",
  emptyFile: "This file has no rows. A CSV file begins with a line of column names.",
  looksBinary: "This does not look like a text file. Save the spreadsheet as CSV, then choose that file.",

  understood: "File contents",
  format: "Format",
  formats: { csv: "CSV", excel: "CSV for Excel", ndjson: "NDJSON" },
  formatHints: {
    csv: "For programs and databases",
    excel: "Opens in Excel with a double-click, with the separators of your language",
    ndjson: "One record per line, for programs",
  },
  byteOrderMark: "Byte order mark, so that Excel recognizes UTF-8",
  encoding: "Encoding",
  encodings: {
    "utf-8": "UTF-8",
    "windows-1252": "Windows-1252 (Western European)",
    "utf-16le": "UTF-16, little endian",
    "utf-16be": "UTF-16, big endian",
  },
  delimiter: "Delimiter",
  delimiters: { ",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Pipe" },
  header: "Columns",
  rowsFound: "Rows",
  about: (n: number) => `about ${number(n)}`,
  counting: (n: number) => `about ${number(n)}, counting`,
  preview: (shown: number) => (shown === 1 ? "The first row" : `The first ${number(shown)} rows`),
  line: "Line",
  inLines: (lines: number[]) => `${lines.length === 1 ? "Line" : "Lines"} ${lines.map(number).join(", ")}.`,
  namelessColumn: (position: number) =>
    `Column ${number(position)} has values but no name. Name it in the first line of the file.`,
  columnTwice: (name: string) =>
    `Two columns are named “${name}”. Leave both out, or rename one in the file.`,
  oneColumn: "The file has only one column. If that is wrong, choose another delimiter.",
  next: "Match columns",
  back: "Back",

  columnsTitle: "Match columns to attributes",
  columnsLead: (n: number) => `Checked against the first ${rows(n)} of the file.`,
  attributesTitle: "Attributes in the file",
  column: "Column",
  member: "In the file",
  samples: "Examples",
  attribute: "Attribute",
  attributeOf: (column: string) => `Attribute for column ${column}`,
  matchBy: "Match by",
  fit: "Valid cells",
  externalKey: "External key",
  leaveOut: "Leave out",
  standard: "Set automatically",
  standardId: "Identifies the record if a row has no key",
  standardOther: "Ignored, because it is set automatically",
  allFit: (n: number) => `${number(n)} valid`,
  notAllFit: (bad: number, of: number) => `${number(bad)} of ${number(of)} not valid`,
  checkedLater: "Checked in the next step",
  allEmpty: "All empty",
  empties: (n: number) => `${number(n)} empty`,
  example: (cell: string, expected: string) => `“${cell}” is not valid. ${expected}`,
  expected: {
    number: "Write numbers as -1234.50.",
    date: "Write dates as 2024-02-29.",
    datetime: "Write times with an offset: 2024-02-29T10:00:00Z.",
    boolean: "Write true or false.",
    metric: "Write a number such as 2.5.",
    list: "Write one or more values, separated by semicolons.",
    reference: "Write the external key of a record.",
    string: "A required attribute needs text.",
    dimension: "A required attribute needs text.",
    key: "A key has 1 to 255 characters and no control characters.",
  },
  optionsAre: (options: string) => `Its options are ${options}.`,
  requiredEmpty: "The attribute is required.",
  keyEmpty: "Rows without a key are rejected. To create records without keys, leave the column out.",
  twice: (name: string) => `Two columns are matched to ${name}. Leave one of them out.`,
  missing: (names: string, n: number) =>
    n === 1
      ? `${names} is required but has no column. Rows that create a record are rejected.`
      : `${names} are required but have no column. Rows that create a record are rejected.`,
  noKey:
    "No column is matched to the external key. Every row creates a new record. Importing the file twice creates all records twice.",
  emptyCells: "An empty cell clears the attribute. To keep the existing values, leave the column out.",
  keyPrefix: "Key prefix",
  keyPrefixHint:
    "Added before every key, so several systems can share a template. With the prefix erp: the key 4711 becomes erp:4711.",
  cellsTitle: "Cell format",
  cellsReading: "Detecting the format",
  cellsProposed: "Detected from the cells of the file. Change it if it is wrong.",
  cellsSeveral: "Several formats fit the cells. Choose the right one.",
  cellsPlain: "The cells have the standard format. Change it if it is wrong.",
  decimal: "Decimal mark",
  thousands: "Thousands separator",
  marks,
  dateOrder: "Dates",
  timePattern: "Times",
  timePatternHint:
    "For example, DD.MM.YYYY HH:mm. If empty, the standard format applies: 2024-02-29T10:00:00Z.",
  timeZone: "Time zone",
  timeZoneHint: "Applies to times without a time zone. For example, Europe/Zurich.",
  wordsTrue: "Words for true",
  wordsFalse: "Words for false",
  wordsNull: "Words for no value",
  wordsNullHint: "Separated by commas, such as NULL, n/a. Empty cells never have a value.",
  listSeparator: "List separator",
  separators: { ";": "Semicolon", "|": "Pipe", ",": "Comma", "/": "Slash", "\n": "Line break" } as Record<
    string,
    string
  >,
  question: (columns: string[]) =>
    columns.length === 1
      ? `Which format does the column ${columns[0]} have?`
      : `Which format do the columns ${columns.join(", ")} have?`,
  proposedFor: (columns: string[], format: string) => `${columns.join(", ")}: ${format}`,
  formatName: ({ date, datetime, decimal, thousands, list, ...words }: Format) =>
    datetime ??
    date ??
    [
      decimal && `Decimal mark: ${mark(decimal)}`,
      thousands && `thousands separator: ${mark(thousands)}`,
      list && `Separator: ${list}`,
      [words.true ?? [], words.false ?? []].flat().join(", "),
    ]
      .filter(Boolean)
      .join(", "),
  chooseFirst: "Choose the format of the cells first.",

  ndjsonLead: "Each line is a JSON object. Its keys are the names of attributes.",
  ndjsonUnknown: (names: string) =>
    `The template has no attribute for these names: ${names}. Lines that contain one are rejected. Correct the names in the file.`,
  try: "Check the file",

  trying: "Checking the file",
  tryingLead: "Every row is checked. Nothing is written.",
  sentOf: (sent: number, all: number) => `${size(sent)} of ${size(all)} sent`,
  waitingForOthers: "Waiting for other files to finish",
  waitsFor: (role: string, since: string | null) =>
    `Waiting for another import by ${role}${since === null ? "" : `, started ${since}`}`,
  checking: (n: number) => `Checking ${rows(n)}`,
  trialTitle: "Result of the check",
  trialLead: (n: number) => `${rows(n)} checked. Nothing has been written yet.`,
  created: "New",
  updated: "Changed",
  unchanged: "Unchanged",
  failed: "Rejected",
  rejectedTitle: "Rejected rows",
  rejectedLead: (shown: number, all: number) =>
    shown < all ? `The first ${number(shown)} of ${rows(all)}.` : `${rows(all)}.`,
  errorsIn: (column: string | null, n: number) => `${column ?? "Whole rows"}: ${number(n)}`,
  rejectedMany: "Only the first 1,000 errors are reported. Correct them, then check the file again.",
  wholeRow: "Whole row",
  rowTooFar: "This row is beyond the rows that can be shown.",
  saveRejected: "Save rejected rows",
  import: (n: number) => `Import ${rows(n)}`,
  importOthers: (n: number, left: number) => `Import ${rows(n)}, skip ${number(left)}`,
  allOrNothing: "All or nothing",
  allOrNothingHint:
    "If a row is rejected or you stop, nothing is imported. Other writes to the same keys wait until the import ends.",
  nothingToImport:
    "No rows can be imported. Correct the file and choose it again, or match the columns differently.",
  othersUnchanged: "All other records already have the values in the file.",
  nothingChanges: "All records already have the values in the file.",

  running: (template: string) => `Importing into ${template}`,
  rowsOf: (done: number, of: number) => `${number(done)} of ${rows(of)}`,
  rowsOfUnknown: (of: number) => `Processing ${rows(of)}`,
  stop: "Stop",
  stopKeeps:
    "If you stop, rows imported so far are kept. To continue, import the same file again. Imported rows are not changed again.",
  stopUndoes: "If you stop, nothing is imported.",
  mayLeave: "You can use other pages in the meantime. Keep this tab open.",
  doneTitle: "Imported",
  doneSentence: (created: number, updated: number, unchanged: number) =>
    [
      created > 0 && `${count(created, "record")} created`,
      updated > 0 && `${number(updated)} changed`,
      unchanged > 0 && `${number(unchanged)} unchanged`,
    ]
      .filter(Boolean)
      .join(", ") || "Nothing was imported",
  rejectedSentence: (n: number) =>
    `${rows(n)} ${n === 1 ? "was" : "were"} rejected. Save the rejected rows, correct them and import that file.`,
  stoppedTitle: "Stopped",
  stoppedKept: (n: number) =>
    n === 0
      ? "Stopped. Rows that were already sent may have been imported. To continue, import the same file again. Imported rows are not changed again."
      : `Stopped. At least ${rows(n)} ${n === 1 ? "was" : "were"} imported. Imported rows are kept. To continue, import the same file again. Imported rows are not changed again.`,
  stoppedUndone: "Stopped. Nothing was imported.",
  failedTitle: "Not imported",
  failedKept:
    "Rows imported so far are kept. To continue, import the same file again. Imported rows are not changed again.",
  failedUndone: "Nothing was imported.",
  connectionLost: "The connection to the service was lost.",
  firstRejected:
    "The file contains only the rows with the first 1,000 errors. To save all rejected rows, run keyed-proxy import --failed.",
  collecting: "Collecting the rejected rows",
  readOf: (read: number, all: number) => `${size(read)} of ${size(all)}`,
  openList: "Open the list",
  importOther: "Import another file",
  mayNotImport: "You cannot import into this template",
  mayNotImportHint: (template: string) =>
    `To import into ${template}, your role needs the privilege Create or Change. An administrator can grant it under Access.`,

  importSection: "Import",
  importSectionLead: "Choose a template, then a file.",
  template: "Template",
  noTarget: "Your role cannot write to any template. An administrator can grant it access under Access.",
  exportSection: "Export",
  exportSectionLead:
    "An export contains the key, all attributes, and the created and changed timestamps of every record that you can see. You can import the file again.",
  view: "Records",
  allRecords: "All records",
  export: "Export",
  exporting: (name: string) => `Exporting ${name}`,
  received: (bytes: number) => `${size(bytes)} received`,
  cancel: "Cancel",
  cancelled: "Canceled. Nothing was saved.",
  exportBroken: "The export was interrupted and not saved. Start it again.",
  rejectedCount: (n: number) => `${number(n)} rejected`,
  exported: (bytes: number) => `${size(bytes)} saved.`,
  saveAgain: "Save again",
  tabTitle: "In this tab",
  tabLead: "Imports and exports since you opened this tab. The list is cleared when the tab closes.",
  tabEmpty: "No imports or exports yet.",
  what: "What",
  file: "File",
  state: "State",
  outcome: "Outcome",
  started: "Started",
  kinds: { import: "Import", export: "Export" },
  states: { running: "Running", done: "Done", stopped: "Stopped", failed: "Failed" },
  showImport: "Show",
  actions: "Actions",
  tabTable: "Imports and exports in this tab",
};
