/** The words of src/template. */
import { count, number } from "../plural";

const records = (n: number) => count(n, "record");
const list = new Intl.ListFormat("en");
const named = (names: string[]) => list.format(names.map((it) => `“${it}”`));

export const template = {
  types: {
    string: "Text",
    dimension: "Text",
    number: "Number",
    metric: "Metric",
    list: "List",
    date: "Date",
    datetime: "Date and time",
    reference: "Reference",
    boolean: "Yes or no",
  },
  typeHints: {
    string: "Names, addresses, notes",
    number: "Exact, with any number of digits",
    date: "A day",
    datetime: "A point in time",
    boolean: "True or false",
    list: "One or more values, with optional choices",
    reference: "Another record",
    metric: "A number that changes over time",
  },
  lead: (slug: string, n: number | null) => (n === null ? slug : `${slug} · ${records(n)}`),
  newTitle: "New template",
  newLead:
    "A template defines the attributes of its records. Each record also has an external key, and created and changed timestamps.",
  readOnly:
    "You can view this template. To change it, your role needs the privilege Define templates. An administrator can grant it under Access.",
  noTemplate: "Template not found",
  noTemplateHint: "It may have been dropped, or your role has no access.",

  attributes: "Attributes",
  attributesLead: "Lists, forms and files use this order.",
  attributesTable: "Attributes in order",
  actions: "Actions",
  suggestionsTable: "Attributes without an index",
  noAttributes: "No attributes yet",
  noAttributesHint: "Add the first one. Most templates begin with a name.",
  addAttribute: "Add attribute",
  editAttribute: (name: string) => `Change ${name}`,
  newAttribute: "New attribute",
  actionsOf: (name: string) => `Actions for ${name}`,
  edit: "Change",
  drop: "Drop",
  position: "No.",
  label: "Label",
  labelHint: "Shown to users. Any text.",
  slug: "Slug",
  slugHint: "Used in files, in the API and in SQL. Letters a–z, digits and _.",
  slugEmpty: "Enter a slug.",
  slugLong: (has: number, most: number) => `A slug has at most ${most} characters. This one has ${has}.`,
  slugBegins: "Begin the slug with a letter from a to z.",
  slugSigns: "Use only lowercase letters a–z, digits and _.",
  slugReserved: (slug: string) => `${slug} is reserved for a standard field.`,
  slugTaken: (slug: string) => `Another attribute is named ${slug}.`,
  slugTakenTemplate: (slug: string) => `Another template is named ${slug}.`,
  type: "Type",
  typeStays: "The type cannot be changed. Add another attribute and copy the values.",
  target: "Refers to",
  targetHint: "Only records of this template can be chosen.",
  toTemplate: (type: string, target: string) => `${type} to ${target}`,
  required: "Required",
  requiredHint: "Every record needs a value.",
  indexed: "Indexed",
  indexedHint: "Keeps filters and sorts fast in large templates.",
  referenceIndexed: "References are always indexed.",
  default: "Default",
  defaultHint: "Used for records created without a value.",
  format: {
    title: "Format",
    hint: "Changes only how values are shown. Filters use the stored values.",
    example: (text: string) => `Example: ${text}.`,
    grouping: "Thousands",
    groupings: { automatic: "Grouped, except years", yes: "Grouped", no: "Not grouped" },
    decimals: "Decimals",
    allDigits: "As stored",
    sign: "Unit",
    signs: { none: "None", unit: "Unit", currency: "Currency", percent: "Percent (0.5 is 50 %)" },
    unit: "Unit name",
    currency: "Currency code",
    pattern: "Pattern",
    patternHint:
      "Day d or dd, month M to MMMM, year yyyy, weekday EEEE, time HH:mm:ss. Put other letters in 'quotes'. Each user’s own format if empty.",
    kind: "Text",
    kinds: { plain: "Plain", multiline: "Several lines", link: "Link", email: "Email", image: "Image" },
    kindHints: {
      plain: "Shown as is",
      multiline: "Has a taller field in forms",
      link: "Opens a web address",
      email: "Starts an email to the address",
      image: "Opens the image at a web address",
    },
  },
  options: "Options",
  optionsOnly: "Only these values",
  optionsHint: "Without options, the list accepts any value.",
  option: (position: number) => `Value ${position}`,
  optionLabel: (position: number) => `Label of value ${position}`,
  optionLabelPlaceholder: "Label, if it differs",
  optionEmpty: "Enter a value, or remove the line.",
  optionTwice: (value: string) => `“${value}” is listed twice.`,
  addOption: "Add value",
  removeOption: (value: string) => `Remove ${value || "value"}`,
  optionsCount: (n: number) => count(n, "value"),
  yes: "Yes",
  whatItDoes: "Effects of this change",
  noChange: "There are no changes yet.",
  asking: "Checking the effects. Nothing is saved.",
  save: "Save changes",
  saved: (name: string) => `${name} changed`,
  added: (name: string) => `${name} added`,
  dropped: (name: string) => `${name} dropped`,

  settings: "Template",
  display: "Title of a record",
  displayHint: "Shown in records that refer to a record of this template.",
  isDisplay: "Title of a record",
  displayNone: "The external key",
  language: "Text language",
  languageHint: "The search finds other forms of a word in this language: “painting” finds “paintings”.",
  languageName: (name: string) =>
    name === "simple" ? "None (exact words)" : name[0]?.toUpperCase() + name.slice(1),
  collation: "Text sort order",
  collationHint: "Used to sort lists by a text attribute. An attribute can have its own order.",
  collationName: (name: string) =>
    name === "und"
      ? "Unicode (most languages)"
      : name === "C"
        ? "Characters (A–Z before a–z)"
        : (new Intl.DisplayNames(["en"], { type: "language" }).of(name) ?? name),
  embed: "Embedded attributes",
  embedHint: "Used for search by meaning. The service embeds them if an embedding provider is configured.",
  embedNone: "None",
  embedNothing: "There are no text or list attributes to embed.",
  synonyms: "Synonyms",
  synonymsHint:
    "One set per line. A search for one word of a set also finds the others: “car, automobile, motor car”. For one direction, write >: with “phone > smartphone, handset”, a search for phone finds all three, but a search for handset finds only handset.",
  synonymsElsewhere: "Some synonyms contain a comma or a >, so they can be changed only with the API.",
  synonymsLine: (line: number, error: string) => `Line ${line}: ${error}`,
  synonymsNone: "None",
  reset: "Reset",

  suggestions: "Suggested indexes",
  suggestionsLead:
    "Searches use these attributes without an index. An index makes the searches fast, but takes space and slows writes a little.",
  suggestedBySearches: (filters: number, sorts: number) =>
    [
      filters > 0 && `${count(filters, "search", "searches")} filtered by it`,
      sorts > 0 && `${number(sorts)} sorted by it`,
    ]
      .filter(Boolean)
      .join(", "),
  suggestedByViews: (views: string[]) =>
    `The saved ${views.length === 1 ? "view" : "views"} ${named(views)} ${views.length === 1 ? "uses" : "use"} it`,
  why: "Why",
  attribute: "Attribute",
  addIndex: "Add index",
  indexRequested: (name: string) => `Building the index of ${name}`,
  jobs: {
    index: (name: string) => `Building the index of ${name}`,
    searches: "full-text search",
    documents: "Rebuilding the search index",
    embeddings: "Queueing text for embedding",
    series: "Removing points of a dropped metric",
  },
  jobWaits: "Waiting",
  jobFailed: "Failed",
  jobAgain: "Fix the cause. Then an administrator can run the job again under Operations.",

  dropTemplate: "Drop template",
  dropTemplateLead: "Removes the table, the definition, saved views and the history. This cannot be undone.",
  dropTemplateHas: (n: number) =>
    `The template has ${records(n)}. Delete them first, or drop the template with its records in SQL:`,
  dropTemplateReferred: (names: string[]) =>
    `${named(names)} ${names.length === 1 ? "refers" : "refer"} to this template. Drop those attributes first.`,
  dropTitle: (name: string) => `Drop ${name}`,
  typeToConfirm: (slug: string) => `Type ${slug} to confirm`,
  cancel: "Cancel",

  create: "Create template",
  createHint:
    "You cannot change the slug of the template or the types and order of its attributes later. Everything else can be changed.",
  templateSlugHint: "Used in addresses, in the API and as the SQL table name. It cannot be changed.",
  attributesNewLead:
    "Begin with a name. Lists and records show the attributes in this order. Press Alt and an arrow key to move a line.",
  moveUp: (name: string) => `Move ${name} up`,
  moveDown: (name: string) => `Move ${name} down`,
  created: (name: string) => `${name} created`,
  templateLabel: "Label",
  templateLabelHint: "Shown to users, such as Customers",
  labelOf: (position: number) => `Label of attribute ${position}`,
  slugOf: (position: number) => `Slug of attribute ${position}`,
  typeOf: (position: number) => `Type of attribute ${position}`,
  done: "Close",
  detailsOf: (name: string) => `Details of ${name}`,
  remove: (name: string) => `Remove ${name}`,
  unnamed: "attribute",
  import: "Import a file",

  effects: {
    added: "All records get the attribute.",
    addedEmpty: (n: number) => `${records(n)} ${n === 1 ? "has" : "have"} no value until you set one.`,
    defaultForAll: (n: number) =>
      `${records(n)} ${n === 1 ? "gets" : "get"} the default, and so does every record created without a value.`,
    defaultForNew: "Records created without a value get the default. Existing records do not change.",
    defaultRemoved: "New records created without a value have none. Existing records do not change.",
    requiredNeedsDefault: (n: number) =>
      `${records(n)} would have no value. Set a default, or add the attribute as optional, fill it, then make it required.`,
    renamed: (views: string[]) =>
      `All values are kept. Saved views${views.length > 0 ? ` (${named(views)})` : ""}, scopes of grants and mappings of inbound endpoints use the new slug. The history shows earlier changes under the old slug.`,
    renamedOutside: (before: string, after: string) =>
      `Programs, files and SQL that use ${before} fail until you change it to ${after}.`,
    format: "Values are shown in another format. The values do not change.",
    relabelled:
      "The new label is shown everywhere. Files with the old label as a column name must be matched again.",
    required: "All records have a value. After this change, every record must have one.",
    requiredCounting: "Counting records without a value.",
    requiredMissing: (n: number) =>
      `${records(n)} ${n === 1 ? "has" : "have"} no value. Set a value first, including in deleted records.`,
    optional: "Records can be saved without a value.",
    index: "Filters and sorts use an index, which takes space and slows writes a little.",
    textIndex:
      "Adds two indexes, one for whole values and sorts and one for parts of words. They take space and slow writes a little.",
    referenceIndex: "A reference always has an index.",
    indexInBackground: (n: number | null) =>
      `The index ${n === null ? "" : `on ${records(n)} `}is built in the background. Reads and writes continue in the meantime.`,
    documentsInBackground: (n: number) =>
      `A background job updates ${records(n)}. Then the search finds them by the default value.`,
    unindexed: "The indexes are removed. Filters and sorts on the attribute read every record.",
    anyValue: "The list accepts any value.",
    onlyOptions: "Only the options are accepted. The change is rejected if a record has another value.",
    optionsGone: (values: string[]) =>
      `${named(values)} ${values.length === 1 ? "is" : "are"} no longer accepted. The change is rejected if a record has ${values.length === 1 ? "it" : "one of them"}.`,
    onlyOptionsFit: "Only the options are accepted. No record has another value.",
    optionsGoneFit: (values: string[]) =>
      `${named(values)} ${values.length === 1 ? "is" : "are"} no longer accepted. No record has ${values.length === 1 ? "it" : "one of them"}.`,
    labels: "The search finds records by the new labels.",
    labelsInBackground: "A background job updates the records. Then the search finds them by the new labels.",
    stillDisplay: "The attribute remains the title of a record.",
    viewsUse: (views: string[]) =>
      `The saved ${views.length === 1 ? "view" : "views"} ${named(views)} ${views.length === 1 ? "uses" : "use"} this attribute. Change or delete ${views.length === 1 ? "the view" : "the views"} first.`,
    dropEmpty: (name: string) => `${name} has no values.`,
    dropCounting: (name: string) => `Counting the values of ${name}.`,
    dropValues: (name: string, n: number) =>
      `Removes ${number(n)} ${n === 1 ? "value" : "values"} of ${name}. This cannot be undone.`,
    dropHistory: "The history of each record still shows earlier changes.",
    dropMetric:
      "All points of its series are deleted in the background. The history still shows earlier changes.",
    dropDisplay:
      "The attribute is the title of a record. Another text attribute replaces it, or the external key if there is none.",
    dropEmbedded: "The attribute is embedded. All records are queued to be embedded again.",
    dropRejected: "The change is rejected if the scope of a grant or an inbound endpoint uses the attribute.",
    synonymsChanged: "The search uses the new synonyms immediately.",
    templateRelabelled: "The new label is shown everywhere.",
    displayChanged:
      "Records that refer to a record of this template show its new title immediately, and the search finds them by it.",
    languageChanged: "The search finds word forms in the new language.",
    languageInBackground: (n: number | null) =>
      `${n === null ? "The records" : records(n)} ${n === 1 ? "is" : "are"} reindexed in the background. Meanwhile the search finds word forms of both languages.`,
    collationChanged: "Lists sorted by a text attribute change their order.",
    collationInBackground:
      "Lists change their order immediately. An index for the new order is built in the background. Until it is complete, lists load more slowly.",
    embedNone: "Text is no longer embedded. Search by meaning does not find new records.",
    embedAll: "All records are queued to be embedded. The embedding provider may charge for this.",
    embedCount: (n: number) =>
      `${records(n)} ${n === 1 ? "is" : "are"} queued to be embedded. The embedding provider may charge for this.`,
  },
};
