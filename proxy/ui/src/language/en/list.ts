/** The words of src/list. */
import { count, number, rounded } from "../plural";

const records = (n: number) => count(n, "record");
const about = (n: number) => number(rounded(n));

const NEWEST_FIRST = "Newest first";

export const list = {
  newestFirst: NEWEST_FIRST,
  key: "External key",
  standard: { created_at: "Created", updated_at: "Changed", deleted_at: "Deleted" },
  search: "Search",
  searchIn: (template: string) => `Search ${template}`,
  searchHint:
    'Enter words, parts of words or an external key. Use "…" for an exact phrase and - to exclude a word.',
  suggestions: "Search suggestions",
  holders: records,
  holdersShort: number,
  clearSearch: "Clear the search",
  searchCleared: "Search cleared",
  mode: "Search by",
  modes: { words: "Words", meaning: "Meaning", both: "Both" },
  noMeaning: "Search by meaning is not available at the moment. Showing full-text matches instead.",
  near: (typed: string) => `Nothing matches “${typed}”.`,
  nearFor: "Showing results for",
  nearLike: "and similar words.",
  nearWords: "Showing records with similar words.",
  nearExactly: (meant: string) => `Search for exactly “${meant}”`,
  nearExports: "Exports contain exact matches only.",
  nearSelects: "More records match. Only loaded records can be selected here.",
  newRecord: "New record",
  layout: "Layout",
  table: "Table",
  cards: "Cards",
  columns: "Columns",
  columnsLead: (shown: number, all: number) => `${number(shown)} of ${number(all)} shown`,
  columnsHint: "Drag to reorder. With the keyboard, press Enter on the handle, then the arrow keys.",
  showColumn: (label: string) => `Show ${label}`,
  moveColumn: (label: string) => `Move ${label}`,
  findColumn: "Find a column",
  resetColumns: "Reset the columns",
  more: "More",
  exportAs: (format: string) => `Export this list as ${format}`,
  exporting: (bytes: string) => `Exporting: ${bytes}`,
  exportBroken: "The export was interrupted and not saved. Start it again.",
  exported: (name: string) => `Exported to ${name}`,
  exportShort: "Export",
  import: "Import a file",
  importShort: "Import",
  definition: "Change the template",
  definitionShort: "Edit template",
  refresh: "Refresh",
  fresh: (n: number, isMore: boolean) =>
    isMore ? `More than ${count(n, "new record")}` : count(n, "new record"),
  newFurther: "The new records are further down in this order.",
  marks: {
    changed: "Changed",
    new: "New",
    deleted: "Deleted",
    gone: "You no longer have access to this record",
    left: "No longer matches this list",
  },
  markBy: (mark: string, actor: string) => `${mark} by ${actor}`,
  markAfter: (mark: string, actor: string) => `${mark}: changed by ${actor}`,
  othersDid: (changed: number, lost: number) =>
    [
      ...(changed > 0 ? [`${records(changed)} changed by other users.`] : []),
      ...(lost > 0 ? [`${records(lost)} deleted by other users, or no longer in this list.`] : []),
    ].join(" "),

  counted: (n: number, isExact: boolean) => (isExact ? records(n) : `About ${records(rounded(n))}`),
  range: (first: number, last: number, total: number | null, isExact: boolean) =>
    total === null
      ? `${number(first)}–${number(last)}`
      : `${number(first)}–${number(last)} of ${isExact ? number(total) : `about ${about(Math.max(total, last))}`}`,
  loaded: (n: number, total: number | null, isExact: boolean) =>
    total === null
      ? `${records(n)} loaded`
      : `${number(n)} of ${isExact ? number(total) : `about ${about(Math.max(total, n))}`} loaded`,
  ranked: (n: number) => `The ${number(n)} closest matches`,
  countExactly: "Count exactly",
  counting: "Counting",
  loading: "Loading",
  searching: "Searching",
  searchingLong: "This search is taking a while. It reads many records.",
  stop: "Stop",
  stopped: "Search stopped. Showing the earlier results.",
  searchAgain: "Search again",
  loadFailed: "The next records could not be loaded.",
  loadAgainFailed: "These records could not be loaded.",
  tryAgain: "Try again",

  sort: "Sort",
  sortBy: "Sort by",
  order: "Order",
  ascending: "Ascending",
  descending: "Descending",
  startAt: "Start at…",
  startTitle: "Start the list at a value",
  startBy: "Attribute",
  startAction: "Start here",
  startFilter: "Add the filter",
  startHint: (label: string) => `The list is sorted by ${label} and begins at this value.`,
  startTextHint: (label: string) =>
    `The list is sorted by ${label} and shows only records that begin with this text.`,
  startingAt: (label: string, value: string) => `Starting at ${value} (${label})`,
  startWithout: (label: string) => `Records without ${label} are not shown.`,
  countedFrom: (value: string, isDescending: boolean) =>
    isDescending ? ` starting at ${value}, descending` : ` starting at ${value}`,
  fromBeginning: "Show from the beginning",
  toEnd: "Go to the end (reverse the order)",
  cancel: "Cancel",
  sortTitle: (label: string) =>
    `Sort by ${label}. Hold Shift to add to the sort. Records without a value come last.`,
  sortedBy: (parts: { label: string; isDescending: boolean }[]) =>
    parts.length === 0
      ? NEWEST_FIRST
      : `Sorted by ${parts
          .map(({ label, isDescending }) => `${label}, ${isDescending ? "descending" : "ascending"}`)
          .join(", then ")}`,
  sortLevel: (level: number) => `Sort level ${level}`,
  notSortable: "Ranked by meaning. To sort, search by words.",
  resize: (label: string) => `Drag to resize ${label}. Double-click to reset.`,
  gridLabel: (template: string) => `Records of ${template}`,
  gridHint:
    "Arrow keys move, Enter opens, Space selects, C copies the value. In the header, Enter sorts and Alt+arrow resizes.",
  open: (name: string) => `Open ${name}`,
  copyKey: "Copy the external key",
  copied: (text: string) => `Copied: ${text}`,
  unnamed: "Unnamed record",

  selectRow: (name: string) => `Select ${name}`,
  selectAll: "Select all loaded records",
  selected: (n: number) => `${records(n)} selected`,
  allSelected: (n: number | null, isExact: boolean) =>
    n === null
      ? "All matching records selected"
      : `${isExact ? `All ${number(n)}` : `About ${about(n)}`} matching records selected`,
  selectMatching: (n: number | null, isExact: boolean) =>
    n === null
      ? "Select all matching records"
      : `Select all ${isExact ? number(n) : `(about ${about(n)})`} matching records`,
  unselect: "Clear the selection",
  setValue: "Set a value",
  showDeleted: "Show deleted records",
  showLive: "Show live records",
  areDeleted: "Deleted",
  deletedHint: "Select records to restore them, or open one to see its values.",
  deletedHintReader: "Open a record to see its values. Your role cannot restore records.",
  deletedSort: "Most recently deleted first",
  noDeleted: "No deleted records",
  noDeletedLead: "Deleted records are listed here and can be restored.",
  delete: "Delete",
  deleteTitle: (n: string) => `Delete ${n}?`,
  deleteLead:
    "Other records can then use their external keys. To restore the records, choose More, then Show deleted records.",
  deleteAction: (n: string) => `Delete ${n}`,
  records,
  aboutRecords: (n: number | null, isExact: boolean) =>
    n === null ? "all matching records" : isExact ? records(n) : `about ${records(rounded(n))}`,
  setTitle: (n: string) => `Set a value in ${n}`,
  setLead: "You can undo this until you leave the list.",
  attribute: "Attribute",
  value: "New value",
  noValue: "Leave empty to clear the attribute.",
  setAction: (n: string) => `Change ${n}`,
  clearAction: (n: string) => `Clear the value in ${n}`,
  running: { delete: "Deleting", set: "Changing", restore: "Restoring", undo: "Undoing" },
  progress: (done: number, total: number | null) =>
    total === null ? records(done) : `${number(done)} of ${number(total)}`,
  done: {
    delete: (n: number) => `Deleted ${records(n)}`,
    set: (n: number) => `Changed ${records(n)}`,
    restore: (n: number) => `Restored ${records(n)}`,
    undo: (n: number) => `Undid the change in ${records(n)}`,
  },
  wasStopped: "Stopped. Changes made so far are kept.",
  rejected: {
    delete: (n: number) => `${records(n)} could not be deleted:`,
    set: (n: number) => `${records(n)} could not be changed:`,
    restore: (n: number) => `${records(n)} could not be restored:`,
    undo: (n: number) => `${records(n)} could not be changed back:`,
  },
  rejectedMore: (n: number) => `and ${number(n)} more, for the same or other reasons`,
  undo: "Undo",
  restore: "Restore",
  changedSince: "Another user has changed it in the meantime, so it was not changed back.",

  emptyTitle: (template: string) => `No records in ${template} yet`,
  emptyLead: "Import a file, or create the first record.",
  emptyLeadReader: "There are no records yet, or your role has no access to them.",
  nothingTitle: "No matching records",
  nothingLead: "No record matches the search and the filters.",
  clearAll: "Clear search and filters",
  noTemplate: "Template not found",
  noTemplateLead:
    "It was renamed or removed, or your role has no access. An administrator can grant access under Access.",
  mayNotRead: "You have no access to these records",
  mayNotReadLead: (role: string) =>
    `Your role is ${role}. An administrator can grant it the privilege Read under Access.`,
};
