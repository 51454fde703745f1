/** The words of src/filter. */
import { count, number } from "../plural";

/** "Visits are", "Born is": plural labels take a plural verb. */
const isPlural = (label: string) => /[^sui]s$/i.test(label);
const be = (label: string) => (isPlural(label) ? "are" : "is");
const list = (values: string[], last: string) =>
  values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} ${last} ${values.at(-1)}`;
const or = (values: string[]) => list(values, "or");
/** "not Bern", "neither Bern nor Basel", "none of Bern, Basel and Genève" */
const none = (values: string[]) => {
  if (values.length < 2) return `not ${values.join("")}`;
  return values.length === 2 ? `neither ${values[0]} nor ${values[1]}` : `none of ${list(values, "and")}`;
};
const others = (values: string[], more: number) =>
  more === 0 ? values : [...values, count(more, "other value")];

export const filter = {
  label: "Filters",
  add: "Filter",
  addLong: "Add a filter",
  shortcut: "Add a filter",
  clear: "Clear",
  clearLong: "Remove all filters",
  remove: (sentence: string) => `Remove the filter: ${sentence}`,
  none: "No filters",
  edit: "Filter",
  editLong: "Change a filter",
  apply: "Apply",
  back: "Back",
  cancel: "Cancel",
  removeThis: "Remove",

  field: "Attribute",
  searchFields: "Search attributes",
  noField: "No matching attributes.",
  ownFields: "Attributes",
  standardFields: "Standard fields",
  fieldsBehind: "Fields of referenced records",
  group: "Any of these",
  groupHint: "Matches records that meet any of the conditions",
  groupAll: "All of these",
  addToGroup: "Add a condition",
  groupEmpty: "Add the first condition of the group.",
  json: "Condition as JSON",
  jsonHint: "This condition cannot be edited as a form. Edit its JSON here.",
  jsonBroken: "This is not valid JSON.",
  jsonNoCondition: 'This is not a condition. Write {"field": …, "operator": …, "value": …}.',

  standard: {
    external_key: "External key",
    created_at: "Created",
    updated_at: "Changed",
    deleted_at: "Deleted",
    id: "Record ID",
    template_id: "Template ID",
    template_slug: "Template",
  } as Record<string, string>,

  operator: "Operator",
  moreOperators: "More",
  operators: {
    eq: "Equals",
    neq: "Does Not Equal",
    in: "In",
    "not-in": "Not In",
    like: "Contains (case-sensitive)",
    "not-like": "Does Not Contain (case-sensitive)",
    ilike: "Contains",
    "not-ilike": "Does Not Contain",
    "starts-with": "Starts With",
    "ends-with": "Ends With",
    gt: ">",
    gte: ">=",
    lt: "<",
    lte: "<=",
    between: "Between",
    today: "Is Today",
    empty: "Is Empty",
    "not-empty": "Is Not Empty",
  },
  numberOperators: { eq: "=", neq: "≠" },
  dateOperators: {
    lt: "Before",
    gt: "After",
    lte: "On or Before",
    gte: "On or After",
    eq: "On",
    neq: "Not On",
  },
  referenceOperators: { empty: "Is Unlinked", "not-empty": "Is Linked" },
  keyOperators: { like: "Contains", "not-like": "Does Not Contain" },

  value: "Value",
  values: "Values",
  from: "From",
  to: "To",
  withTime: "Include a time of day",
  yes: "Yes",
  no: "No",
  searchValues: "Search or type a value",
  searchOptions: "Search values",
  searchRecords: (template: string) => `Search ${template}`,
  addValue: (text: string) => `Use “${text}”`,
  pasteHint: "Enter adds a value. Paste several lines to add each.",
  noValues: "No values found.",
  noRecords: "No records found.",
  records: (n: number) => count(n, "record"),
  chosen: "Chosen values",
  removeValue: (value: string) => `Remove ${value}`,
  needValue: "Enter a value.",
  needValues: "Choose at least one value.",
  needNumber: "Enter a number, such as 1234.5.",
  needDate: "Enter a complete date.",
  needOrder: "The second value must not be less than the first.",

  unknown: "Unknown attribute.",
  unknownRecord: "unknown record",
  ignored: (n: number) =>
    n === 1
      ? "A filter in the address is not valid and is ignored."
      : `${count(n, "filter")} in the address are not valid and are ignored.`,
  rejected: (sentence: string, reason: string) => `${sentence}. Rejected: ${reason}`,

  facets: "Frequent values",
  facetsOf: (label: string) => `Frequent values of ${label}`,
  noFacets: "No values.",
  noFacetFields: "This template has no attributes whose values can be counted.",
  moreValues: (n: number) => `Show ${number(n)} more`,
  noFrequent: "Every value is unique.",
  tryAgain: "Try again",
  closeFacets: "Close",

  views: "Views",
  view: "View",
  allRecords: "All records",
  noViews: "No saved views yet",
  unsaved: "Unsaved changes",
  isOpen: "open",
  viewOpen: (view: string) => `View: ${view}`,
  save: "Save",
  saveAs: "Save as view",
  saveAsLong: "Save this search as view…",
  saveView: "Save view",
  updateView: (view: string) => `Save changes to ${view}`,
  restoreView: "Discard changes",
  renameView: "Rename…",
  viewDetails: "Details…",
  deleteView: "Delete…",
  deleteTitle: (view: string) => `Delete the view ${view}`,
  deleteLead:
    "Records are not deleted. Links and programs that use the view stop working, and its SQL view is removed.",
  deleteIt: "Delete view",
  viewDeleted: (view: string) => `View ${view} deleted`,
  viewSaved: (view: string) => `View ${view} saved`,
  viewRenamed: (view: string) => `View renamed to ${view}`,
  viewName: "Name",
  viewSlug: "Slug",
  needName: "Enter a name for the view.",
  theSlug: "the slug",
  theSqlView: "the name of the SQL view",
  viewSlugHint: "Identifies the view in addresses, searches and SQL. Lowercase letters, digits and _.",
  viewSlugTaken: "Another view has this slug.",
  viewSlugForm: "Begin with a letter, then use lowercase letters, digits or _.",
  viewRename: "Rename view",
  sqlView: "SQL view",
  sqlViewHint: "Creates a PostgreSQL view with these records, for BI tools.",
  presentation: "Display values in SQL",
  presentationHint:
    "The SQL view shows titles of referenced records and labels of list values, for BI tools.",
  noSqlView: "A full-text search cannot have an SQL view.",
  cannotSave: "To save views, your role needs the privilege Define templates. An administrator can grant it.",
  rename: "Rename",

  sentence: {
    join: (subject: string, verb: string, value: string) => [subject, verb, value].filter(Boolean).join(" "),
    any: (parts: string[]) => or(parts),
    all: (parts: string[]) => list(parts, "and"),
    inner: (sentence: string) => `(${sentence})`,
    orWord: "or",
    andWord: "and",
    not: (sentence: string) => `not (${sentence})`,
    quoted: (text: string) => `“${text}”`,
    noValue: "nothing",
    yes: "yes",
    no: "no",
    or: (values: string[], more: number) => or(others(values, more)),
    between: (from: string, to: string) => `${from} and ${to}`,
    is: (label: string) => be(label),
    isNot: (label: string) => `${be(label)} not`,
    /** The verb and the values of "City is neither Bern nor Basel". */
    isNone: (label: string, values: string[], more: number) =>
      [be(label), none(others(values, more))] as const,
    includes: (label: string) => (isPlural(label) ? "include" : "includes"),
    includesNone: (label: string, values: string[], more: number) =>
      others(values, more).length < 2
        ? ([isPlural(label) ? "do not include" : "does not include", values.join("")] as const)
        : ([isPlural(label) ? "include" : "includes", none(others(values, more))] as const),
    contains: (label: string) => (isPlural(label) ? "contain" : "contains"),
    containsNot: (label: string) => (isPlural(label) ? "do not contain" : "does not contain"),
    caseSensitive: (quoted: string) => `${quoted} (case-sensitive)`,
    startsWith: (label: string) => (isPlural(label) ? "start with" : "starts with"),
    endsWith: (label: string) => (isPlural(label) ? "end with" : "ends with"),
    more: (label: string) => `${be(label)} more than`,
    atLeast: (label: string) => `${be(label)} at least`,
    less: (label: string) => `${be(label)} less than`,
    atMost: (label: string) => `${be(label)} at most`,
    isBetween: (label: string) => `${be(label)} between`,
    on: "on",
    notOn: "not on",
    before: "before",
    after: "after",
    onOrBefore: "on or before",
    onOrAfter: "on or after",
    dateBetween: "between",
    today: "today",
    empty: (label: string) => `${be(label)} empty`,
    notEmpty: (label: string) => `${be(label)} not empty`,
    unlinked: (label: string) => `${be(label)} unlinked`,
    linked: (label: string) => `${be(label)} linked`,
    /** "is more than" → "must be more than" */
    must: (verb: string) =>
      `must ${verb
        .replace(/^(?:is|are) not\b/, "not be")
        .replace(/^(?:is|are)\b/, "be")
        .replace(/^does not\b|^do not\b/, "not")
        .replace(/^(include|contain|start|end)s?\b/, "$1")
        .replace(/^(?!not\b|be\b|include\b|contain\b|start\b|end\b)/, "be ")}`,
  },
};
