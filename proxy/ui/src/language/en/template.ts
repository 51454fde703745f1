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
    number: "Every digit is kept",
    date: "A day",
    datetime: "A moment, with its time zone",
    boolean: "True or false",
    list: "One or more values, of a set if you like",
    reference: "Another record",
    metric: "A number over time, as a series of points",
  },
  lead: (slug: string, n: number | null) => (n === null ? slug : `${slug} · ${records(n)}`),
  newTitle: "New template",
  newLead:
    "A template says which attributes its records have. Each record also has an external key and its times.",
  readOnly:
    "Your role may read this definition. To change it, a role needs define; an administrator can grant it under Access.",
  noTemplate: "There is no such template",
  noTemplateHint: "It may have been dropped, or your role may not see it.",

  attributes: "Attributes",
  attributesLead: "Lists, forms and files show them in this order.",
  attributesTable: "Attributes in their order",
  actions: "Actions",
  suggestionsTable: "Attributes without an index",
  noAttributes: "No attributes yet",
  noAttributesHint: "Add the first: most templates begin with a name.",
  addAttribute: "Add attribute",
  editAttribute: (name: string) => `Change ${name}`,
  newAttribute: "New attribute",
  actionsOf: (name: string) => `Actions of ${name}`,
  edit: "Change",
  drop: "Drop",
  place: "No.",
  label: "Label",
  labelHint: "What people read. Any text.",
  slug: "Slug",
  slugHint: "The name in files, in the API and in SQL. Letters a–z, digits and _.",
  slugEmpty: "Write a slug.",
  slugLong: (has: number, most: number) => `This has ${has} characters; a slug has at most ${most}.`,
  slugBegins: "A slug begins with a letter from a to z.",
  slugSigns: "A slug has only lowercase letters a–z, digits and _.",
  slugReserved: (slug: string) => `${slug} is reserved for a standard field.`,
  slugTaken: (slug: string) => `Another attribute is named ${slug}.`,
  slugTakenTemplate: (slug: string) => `Another template is named ${slug}.`,
  type: "Type",
  typeStays: "The type cannot change. Add another attribute and move the values over.",
  target: "Refers to",
  targetHint: "The template of the records that can be chosen.",
  toTemplate: (type: string, target: string) => `${type} to ${target}`,
  required: "Required",
  requiredHint: "Every record needs a value.",
  indexed: "Indexed",
  indexedHint: "Filters and sorts on it stay fast in large templates.",
  referenceIndexed: "References always have an index.",
  default: "Default",
  defaultHint: "The value of records that are created without one.",
  format: {
    title: "Format",
    hint: "It changes no value, and filters take the values as they are.",
    example: (text: string) => `Example: ${text}.`,
    grouping: "Thousands",
    groupings: { automatic: "Grouped, except years", yes: "Grouped", no: "Not grouped" },
    decimals: "Decimals",
    allDigits: "As stored",
    sign: "Unit",
    signs: { none: "None", unit: "Unit", currency: "Currency", percent: "Percent (0.5 is 50 %)" },
    unit: "Name of the unit",
    currency: "Code of the currency",
    pattern: "Pattern",
    patternHint:
      "Day d or dd, month M to MMMM, year yyyy, weekday EEEE, time HH:mm:ss. Other letters in 'quotes'. Empty: as the reader’s language writes it.",
    kind: "Text",
    kinds: { plain: "Plain", multiline: "Several lines", link: "Link", email: "Email", image: "Image" },
    kindHints: {
      plain: "Shown as it is",
      multiline: "Has a taller field in forms",
      link: "Opens an address of the web",
      email: "Opens a message to the address",
      image: "Opens the picture at an address of the web",
    },
  },
  options: "Options",
  optionsOnly: "Only these values",
  optionsHint: "Without options, a list takes any value.",
  option: (place: number) => `Value ${place}`,
  optionLabel: (place: number) => `Label of value ${place}`,
  optionLabelPlaceholder: "Label, if it differs",
  optionEmpty: "Write each value, or remove its line.",
  optionTwice: (value: string) => `“${value}” is listed twice.`,
  addOption: "Add value",
  removeOption: (value: string) => `Remove ${value || "value"}`,
  optionsCount: (n: number) => count(n, "value"),
  yes: "Yes",
  whatItDoes: "What this does",
  noChange: "Nothing is changed yet.",
  asking: "The service tries the change, and undoes it, to say what it does.",
  save: "Save changes",
  saved: (name: string) => `${name} changed`,
  added: (name: string) => `${name} added`,
  dropped: (name: string) => `${name} dropped`,

  settings: "Template",
  display: "Title of a record",
  displayHint: "What other records show when they refer to one of these.",
  isDisplay: "Title of a record",
  displayNone: "The external key",
  language: "Language of texts",
  languageHint: "The search finds other endings of words in this language: “painting” finds “paintings”.",
  languageName: (name: string) =>
    name === "simple" ? "None (words as they are)" : name[0]?.toUpperCase() + name.slice(1),
  collation: "Order of texts",
  collationHint: "How lists are sorted by a text. An attribute may have its own order.",
  collationName: (name: string) =>
    name === "und"
      ? "Unicode (most languages)"
      : name === "C"
        ? "Characters (A–Z before a–z)"
        : (new Intl.DisplayNames(["en"], { type: "language" }).of(name) ?? name),
  embed: "Embedded texts",
  embedHint:
    "The search by meaning compares these. The service makes embeddings of them if a provider is set.",
  embedNone: "None",
  embedNothing: "There is no text or list to embed.",
  synonyms: "Synonyms",
  synonymsHint:
    "A set on each line. Words separated by commas find each other: “car, automobile, motor car”. Before a >, a word that finds the others and is not found by them: “phone > smartphone, handset”.",
  synonymsElsewhere: "Some of them have a comma or a >, so they can be changed by the API alone.",
  synonymsLine: (line: number, fault: string) => `Line ${line}: ${fault}`,
  synonymsNone: "None",
  reset: "Reset",

  suggestions: "Suggested indexes",
  suggestionsLead:
    "Searches used these without an index. An index makes them fast; it takes space, and writes take a little longer.",
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
  indexRequested: (name: string) => `The index of ${name} is being built.`,
  jobs: {
    index: (name: string) => `Building the index of ${name}`,
    searches: "searches for words",
    documents: "Preparing the search",
    embeddings: "Queueing texts for embedding",
    series: "Removing points of a dropped metric",
  },
  jobWaits: "Waiting",
  jobFailed: "Failed",
  jobAgain: "Remove the cause; an administrator can run it again under Operations.",

  dropTemplate: "Drop the template",
  dropTemplateLead: "Removes the table, its definition, saved views and history. This cannot be undone.",
  dropTemplateHas: (n: number) => `It has ${records(n)}. Delete them first, or drop both in SQL:`,
  dropTemplateReferred: (names: string[]) =>
    `${named(names)} ${names.length === 1 ? "refers" : "refer"} to it. Drop those attributes first.`,
  dropTitle: (name: string) => `Drop ${name}`,
  typeToConfirm: (slug: string) => `Type ${slug} to confirm`,
  cancel: "Cancel",

  create: "Create template",
  createHint:
    "The slug of the template and the types and the order of its attributes stay as they are. Everything else can be changed later.",
  templateSlugHint: "The name in addresses, in the API and of the table in SQL. It cannot change.",
  attributesNewLead:
    "Begin with a name. Lists and records show them in this order; later ones come at the end. Alt with an arrow moves a line.",
  moveUp: (name: string) => `Move ${name} up`,
  moveDown: (name: string) => `Move ${name} down`,
  created: (name: string) => `${name} created`,
  templateLabel: "Label",
  templateLabelHint: "What people read: Customers",
  labelOf: (place: number) => `Label of attribute ${place}`,
  slugOf: (place: number) => `Slug of attribute ${place}`,
  typeOf: (place: number) => `Type of attribute ${place}`,
  done: "Close",
  detailsOf: (name: string) => `Details of ${name}`,
  remove: (name: string) => `Remove ${name}`,
  unnamed: "attribute",
  import: "Import a file",

  effects: {
    added: "Records have the attribute from now on.",
    addedEmpty: (n: number) => `${records(n)} ${n === 1 ? "has" : "have"} no value for it until one is set.`,
    defaultForAll: (n: number) =>
      `${records(n)} ${n === 1 ? "gets" : "get"} the default, and so does every record created without a value.`,
    defaultForNew: "Records created without a value get the default. Records that exist stay as they are.",
    defaultRemoved:
      "Records created without a value are empty from now on. Records that exist stay as they are.",
    requiredNeedsDefault: (n: number) =>
      `${records(n)} would have no value. Give a default, or add the attribute first, fill it, and require it then.`,
    renamed: (views: string[]) =>
      `All values stay. Saved views, scopes of grants and mappings of inbound endpoints follow${views.length > 0 ? `, the ${views.length === 1 ? "view" : "views"} ${named(views)} among them` : ""}. The history shows earlier changes under the old slug.`,
    renamedOutside: (before: string, after: string) =>
      `Programs, files and SQL outside that say ${before} are rejected until they say ${after}.`,
    format: "Values are shown in another way. No value changes.",
    relabelled:
      "The label changes where people read it. Files with the old label as a column need a new match.",
    required: "Every record has a value. From now on none can be saved without one.",
    requiredCounting: "Counting the records without a value.",
    requiredMissing: (n: number) =>
      `${records(n)} ${n === 1 ? "has" : "have"} no value. Fill ${n === 1 ? "it" : "them"} first, deleted ones included.`,
    optional: "Records may be saved without a value.",
    index: "Filters and sorts get an index. It takes space, and writes take a little longer.",
    textIndex:
      "Two indexes: one for whole values and sorts, one for parts of words. They take space, and writes take a little longer.",
    referenceIndex: "A reference always has an index.",
    indexInBackground: (n: number | null) =>
      `The index ${n === null ? "" : `over ${records(n)} `}is built in the background. Others read and write meanwhile.`,
    documentsInBackground: (n: number) =>
      `The search finds ${records(n)} by the default once a background job has written them.`,
    unindexed: "The indexes are removed. Filters and sorts on it read every record.",
    anyValue: "The list takes any value.",
    onlyOptions: "Only the options are accepted. It is rejected if a record has another value.",
    optionsGone: (values: string[]) =>
      `${named(values)} ${values.length === 1 ? "is" : "are"} no longer accepted. It is rejected if a record has ${values.length === 1 ? "it" : "one of them"}.`,
    onlyOptionsFit: "Only the options are accepted. Every record has values among them.",
    optionsGoneFit: (values: string[]) =>
      `${named(values)} ${values.length === 1 ? "is" : "are"} no longer accepted. No record has ${values.length === 1 ? "it" : "one of them"}.`,
    labels: "The search finds records by the new labels.",
    labelsInBackground: "The search finds records by the new labels once a background job has written them.",
    stillDisplay: "It stays the title of a record.",
    viewsUse: (views: string[]) =>
      `The saved ${views.length === 1 ? "view" : "views"} ${named(views)} ${views.length === 1 ? "uses" : "use"} it. Change or drop ${views.length === 1 ? "it" : "them"} first.`,
    dropEmpty: (name: string) => `${name} has no values.`,
    dropCounting: (name: string) => `Counting the values of ${name}.`,
    dropValues: (name: string, n: number) =>
      `Removes ${number(n)} ${n === 1 ? "value" : "values"} of ${name}. They cannot be restored.`,
    dropHistory: "The history of each record still shows changes that were made before.",
    dropMetric:
      "All points of its series are deleted in the background. The history still shows changes that were made before.",
    dropDisplay: "It is the title of a record. Another text takes its place, or else the external key.",
    dropEmbedded: "It is embedded. All records are queued to be embedded.",
    dropRefused: "If a scope of a grant or an inbound endpoint uses it, the service rejects it.",
    synonymsChanged: "The search finds records by the new synonyms at once.",
    templateRelabelled: "The label changes where people read it.",
    displayChanged:
      "Records that refer to one of these show the new attribute at once, and the search finds them by it.",
    languageChanged: "The search finds word forms of the new language.",
    languageInBackground: (n: number | null) =>
      `${n === null ? "The records" : records(n)} ${n === 1 ? "is" : "are"} prepared anew in the background. Meanwhile the search finds word forms of both languages.`,
    collationChanged: "Lists that are sorted by a text change their order.",
    collationInBackground:
      "Lists change their order now. An index for it is built in the background; until then, lists take longer.",
    embedNone: "No more embeddings are made. The search by meaning finds no new records.",
    embedAll: "All records are queued to be embedded, which costs calls of the provider.",
    embedCount: (n: number) =>
      `${records(n)} ${n === 1 ? "is" : "are"} queued to be embedded, which costs calls of the provider.`,
  },
};
