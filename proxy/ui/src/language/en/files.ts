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
  lead: "Bring records in from CSV or NDJSON files, and take them out again.",
  importTitle: (template: string) => `Import into ${template}`,
  importLead: "Only the last step writes.",
  steps: { file: "File", columns: "Columns", trial: "Check", run: "Import" },
  stepOf: (place: number, of: number) => `Step ${place} of ${of}`,

  dropTitle: "Drop a file anywhere on this page",
  dropHint:
    "CSV (comma, semicolon, tab or bar; UTF-8, windows-1252 or UTF-16) or NDJSON, of any size, or JSON.",
  chooseFile: "Choose a file",
  chooseOther: "Choose another file",
  notAFile: "This cannot be read as a file. Drop one CSV or NDJSON file.",
  unreadable: "The browser cannot read this file. It may have been moved or changed: choose it again.",
  emptyFile: "There are no rows in this file. A CSV file begins with a line of column names.",
  looksBinary: "This looks like no text. Save the spreadsheet as CSV, then choose that file.",

  understood: "What is in the file",
  format: "Format",
  formats: { csv: "CSV", excel: "CSV for Excel", ndjson: "NDJSON" },
  formatHints: {
    csv: "For programs and databases",
    excel: "Opens by double click, with the marks of your language",
    ndjson: "A record in each line, for programs",
  },
  byteOrderMark: "Byte order mark, by which Excel tells UTF-8",
  encoding: "Encoding",
  encodings: {
    "utf-8": "UTF-8",
    "windows-1252": "Windows-1252 (Western European)",
    "utf-16le": "UTF-16, little endian",
    "utf-16be": "UTF-16, big endian",
  },
  delimiter: "Delimiter",
  delimiters: { ",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Bar" },
  header: "Columns",
  rowsFound: "Rows",
  about: (n: number) => `about ${number(n)}`,
  counting: (n: number) => `about ${number(n)}, counting`,
  preview: (shown: number) => (shown === 1 ? "The first row" : `The first ${number(shown)} rows`),
  line: "Line",
  inLines: (lines: number[]) => `${lines.length === 1 ? "Line" : "Lines"} ${lines.map(number).join(", ")}.`,
  namelessColumn: (place: number) =>
    `Column ${number(place)} has cells and no name. Name it in the first line of the file.`,
  columnTwice: (name: string) =>
    `Two columns are named “${name}”. Leave both out, or rename one of them in the file.`,
  oneColumn: "All text is in one column. If that is wrong, choose another delimiter.",
  next: "Match columns",
  back: "Back",

  columnsTitle: "Columns to attributes",
  columnsLead: (n: number) => `Checked with the first ${rows(n)} of the file.`,
  attributesTitle: "Attributes in the file",
  column: "Column",
  member: "In the file",
  samples: "Samples",
  attribute: "Attribute",
  attributeOf: (column: string) => `Attribute of the column ${column}`,
  matchBy: "Match by",
  fit: "Cells that fit",
  externalKey: "External key",
  leaveOut: "Leave out",
  standard: "The service reads it",
  standardId: "Names the record where a row has no key",
  standardOther: "Passed over: the service sets it",
  allFit: (n: number) => `${number(n)} fit`,
  notAllFit: (bad: number, of: number) => `${number(bad)} of ${number(of)} do not fit`,
  checkedLater: "Checked in the next step",
  allEmpty: "All empty",
  empties: (n: number) => `${number(n)} empty`,
  example: (cell: string, expected: string) => `“${cell}” does not fit. ${expected}`,
  expected: {
    number: "Write numbers as -1234.50.",
    date: "Write dates as 2024-02-29.",
    datetime: "Write times with an offset: 2024-02-29T10:00:00Z.",
    boolean: "Write true or false.",
    metric: "Write a number such as 2.5.",
    list: "Write the values of the options, with ; between them.",
    reference: "Write the external key of the record.",
    string: "A required attribute needs a text.",
    dimension: "A required attribute needs a text.",
    key: "A key has 1 to 255 characters and no control characters.",
  },
  optionsAre: (options: string) => `Its options are ${options}.`,
  requiredEmpty: "The attribute is required.",
  keyEmpty: "Rows without a key are rejected. Leave the column out to create records without keys.",
  twice: (name: string) => `Two columns fill ${name}. Leave one of them out.`,
  missing: (names: string, n: number) =>
    n === 1
      ? `${names} is required and in no column: rows that create a record are rejected.`
      : `${names} are required and in no column: rows that create a record are rejected.`,
  noKey:
    "No column is the external key. Every row creates a new record, and the same file again creates all of them again.",
  emptyCells: "An empty cell clears the attribute. Leave a column out to keep the values that records have.",
  keyPrefix: "Prefix of keys",
  keyPrefixHint: "Put before every key, so that several systems can feed one template: erp:4711.",
  cellsTitle: "Format of the cells",
  cellsReading: "Looking at the cells",
  cellsProposed: "Proposed from the cells of the file. Change what is wrong.",
  cellsSeveral: "Several formats fit the cells. Choose the one that is meant.",
  cellsPlain: "No other format is found in the cells. Change what is wrong.",
  decimal: "Decimal mark",
  thousands: "Thousands separator",
  marks,
  dateOrder: "Dates",
  timePattern: "Times",
  timePatternHint: "Such as DD.MM.YYYY HH:mm. Empty: 2024-02-29T10:00:00Z.",
  timeZone: "Time zone of times",
  timeZoneHint: "Such as Europe/Zurich. Of times that name none.",
  wordsTrue: "Words for true",
  wordsFalse: "Words for false",
  wordsNull: "Words for no value",
  wordsNullHint: "Such as NULL, n/a. An empty cell has no value either.",
  listSeparator: "Separator of lists",
  separators: { ";": "Semicolon", "|": "Bar", ",": "Comma", "/": "Slash", "\n": "Line break" } as Record<
    string,
    string
  >,
  question: (columns: string[]) =>
    columns.length === 1
      ? `How is the column ${columns[0]} meant?`
      : `How are the columns ${columns.join(", ")} meant?`,
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
  answerFirst: "Say how the cells are meant first.",

  ndjsonLead: "Lines of JSON name their attributes themselves.",
  ndjsonUnknown: (names: string) =>
    `The template has no attribute ${names}. Lines that name it are rejected. Rename it in the file.`,
  try: "Check the file",

  trying: "Checking the file",
  tryingLead: "The service applies all its rules to the whole file and writes nothing.",
  sentOf: (sent: number, all: number) => `${size(sent)} of ${size(all)} sent`,
  waitingForPlace: "Waiting: the service is busy with other files",
  waitsFor: (role: string, since: string | null) =>
    `Waiting for the import of another file by ${role}${since === null ? "" : `, which started ${since}`}`,
  checking: (n: number) => `Checking ${rows(n)}`,
  trialTitle: "What the import will do",
  trialLead: (n: number) => `${rows(n)} checked. Nothing is written yet.`,
  created: "New",
  updated: "Changed",
  unchanged: "Unchanged",
  failed: "Rejected",
  refusedTitle: "Rejected rows",
  refusedLead: (shown: number, all: number) =>
    shown < all ? `The first ${number(shown)} of ${rows(all)}.` : `${rows(all)}.`,
  faultsIn: (column: string | null, n: number) => `${column ?? "Whole rows"}: ${number(n)}`,
  refusedMany: "The check reports the first 1,000 faults. Correct those, and check again for the others.",
  wholeRow: "Whole row",
  rowTooFar: "The row is not shown here.",
  saveRefused: "Save rejected rows",
  import: (n: number) => `Import ${rows(n)}`,
  importOthers: (n: number, left: number) => `Import ${rows(n)}, leave out ${number(left)}`,
  allOrNothing: "All or nothing",
  allOrNothingHint:
    "If a row is rejected or you stop, nothing stays. Others who write the same keys wait meanwhile.",
  nothingToImport:
    "No row can be imported. Correct the file and choose it again, or match the columns differently.",
  othersUnchanged: "The records of all other rows are already as the file has them.",
  nothingChanges: "The records are already as the file has them.",

  running: (template: string) => `Importing into ${template}`,
  rowsOf: (done: number, of: number) => `${number(done)} of ${rows(of)}`,
  rowsOfUnknown: (of: number) => `Working on ${rows(of)}`,
  stop: "Stop",
  stopKeeps:
    "If you stop, the rows imported so far stay. The same file again goes on where it stopped: rows that exist are unchanged.",
  stopUndoes: "If you stop, nothing of the file stays.",
  mayLeave: "You can look at other pages meanwhile. Keep this tab open.",
  doneTitle: "Imported",
  doneSentence: (created: number, updated: number, unchanged: number) =>
    [
      created > 0 && `${count(created, "record")} created`,
      updated > 0 && `${number(updated)} changed`,
      unchanged > 0 && `${number(unchanged)} unchanged`,
    ]
      .filter(Boolean)
      .join(", ") || "Nothing was imported",
  refusedSentence: (n: number) =>
    `${rows(n)} ${n === 1 ? "was" : "were"} rejected. Correct the file of rejected rows and import it.`,
  stoppedTitle: "Stopped",
  stoppedKept: (n: number) =>
    n === 0
      ? "Stopped. Rows that were already on their way may have been imported; they stay. Import the same file again to go on: rows that exist are unchanged."
      : `Stopped. At least ${rows(n)} were imported, and those that were already on their way; they stay. Import the same file again to go on: rows that exist are unchanged.`,
  stoppedUndone: "Stopped. Nothing of the file was imported.",
  failedTitle: "Not imported",
  failedKept:
    "Rows imported before this stay. Import the same file again to go on: rows that exist are unchanged.",
  failedUndone: "Nothing of the file was imported.",
  connectionLost: "The connection to the service was lost.",
  firstRefused:
    "The file has the rows of the first 1,000 faults. keyed-proxy import --failed writes all of them.",
  collecting: "Collecting the rejected rows",
  readOf: (read: number, all: number) => `${size(read)} of ${size(all)}`,
  openList: "Open the list",
  importOther: "Import another file",
  mayNotImport: "Your role may not write here",
  mayNotImportHint: (template: string) =>
    `To import into ${template}, a role needs create or update. An administrator can grant it under Access.`,

  importSection: "Import",
  importSectionLead: "Choose where the records go, then a file.",
  template: "Template",
  noTarget: "There is no template that your role may write to. An administrator can grant it under Access.",
  exportSection: "Export",
  exportSectionLead:
    "An export has the key, all attributes and times of the records that you may see. Importing it gives the same records.",
  view: "Records",
  allRecords: "All records",
  export: "Export",
  exporting: (name: string) => `Exporting ${name}`,
  received: (bytes: number) => `${size(bytes)} received`,
  cancel: "Cancel",
  cancelled: "Cancelled. Nothing was saved.",
  exportBroken: "The export ended early and was not saved. Start it again.",
  refusedCount: (n: number) => `${number(n)} rejected`,
  exported: (bytes: number) => `${size(bytes)} saved.`,
  saveAgain: "Save again",
  tabTitle: "In this tab",
  tabLead: "Imports and exports since this tab was opened. They are forgotten when it closes.",
  tabEmpty: "Nothing was imported or exported yet.",
  what: "What",
  file: "File",
  state: "State",
  outcome: "Outcome",
  started: "Started",
  kinds: { import: "Import", export: "Export" },
  states: { running: "Running", done: "Done", stopped: "Stopped", failed: "Failed" },
  showImport: "Show",
  actions: "Actions",
  tabTable: "Imports and exports of this tab",
};
