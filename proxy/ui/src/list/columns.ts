/** The columns of a list. The external key is always the first and is not among them. */
import type { Attribute, RecordBody, Template } from "../api/queries";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import type { ShownColumn } from "./state";

export const KEY = "external_key";
export const KEY_WIDTH = 176;

export type ListColumn = {
  id: string;
  label: string;
  width: number;
  isNumber: boolean;
  /** The content of a cell: an attribute, or a timestamp of the record. */
  attribute: Attribute;
  isStandard: boolean;
};

/** The number of columns that a list shows initially. The user can add others. */
const MAX_INITIAL_COLUMNS = 20;

const WIDTHS: Partial<Record<Attribute["type"], number>> = {
  number: 128,
  metric: 148,
  list: 184,
  date: 124,
  datetime: 188,
  reference: 176,
  boolean: 108,
};

type Standard = "created_at" | "updated_at" | "deleted_at";

const moment = (slug: Standard): Attribute => ({
  id: slug,
  slug,
  type: "datetime",
  label: messages.list.standard[slug],
  required: true,
  indexed: false,
});
const STANDARD: Attribute[] = [moment("created_at"), moment("updated_at")];
/** In a list of deleted records: the first column after the key, unless it was moved. */
const DELETED = moment("deleted_at");

const columnOf = (attribute: Attribute, template: Template): ListColumn => ({
  id: attribute.slug,
  label: attributeLabel(attribute),
  width: attribute.slug === template.display ? 240 : (WIDTHS[attribute.type] ?? 200),
  isNumber: attribute.type === "number" || attribute.type === "metric",
  attribute,
  isStandard: attribute === DELETED || STANDARD.includes(attribute),
});

/** All columns that a list of the template can show, the display attribute first. */
export function allColumns(template: Template): ListColumn[] {
  const rank = ({ slug }: Attribute) => (slug === template.display ? 0 : 1);
  const attributes = [...template.attributes].sort((a, b) => rank(a) - rank(b));
  return [...attributes, ...STANDARD].map((attribute) => columnOf(attribute, template));
}

/** The columns of a list of deleted records, which has an additional one. */
export function deletedColumns(template: Template, shown: readonly ShownColumn[] | null): ListColumn[] {
  const column = columnOf(DELETED, template);
  const index = shown?.findIndex(({ id }) => id === column.id) ?? -1;
  const others = shownColumns(template, shown);
  const width = shown?.[index]?.width ?? column.width;
  return others.toSpliced(Math.max(index, 0), 0, { ...column, width });
}

/** The initial columns of a list. */
export const initialColumns = (template: Template): ListColumn[] =>
  allColumns(template)
    .filter(({ isStandard }) => !isStandard)
    .slice(0, MAX_INITIAL_COLUMNS);

/** The shown columns, in order. Columns that the template no longer has are left out. */
export function shownColumns(template: Template, shown: readonly ShownColumn[] | null): ListColumn[] {
  if (shown === null) return initialColumns(template);
  const known = new Map(allColumns(template).map((column) => [column.id, column]));
  return shown.flatMap(({ id, width }) => {
    const column = known.get(id);
    return column ? [width === undefined ? column : { ...column, width }] : [];
  });
}

/** Whether a column is the deletion time at its initial width. */
const isAsFirst = ({ id, width }: ListColumn, template: Template): boolean =>
  id === DELETED.slug && width === columnOf(DELETED, template).width;

/** The value of a record in a column. */
export function columnValue(record: RecordBody, { id, isStandard }: ListColumn): unknown {
  return isStandard ? record[id as "created_at" | "updated_at" | "deleted_at"] : record.attributes?.[id];
}

/** The fields that a list requests; null for all. The display attribute is the name of a record in menus and cards. */
export function neededFields(template: Template, columns: readonly ListColumn[]): string[] | null {
  const fields = new Set(columns.map(({ id }) => id));
  if (template.display !== null) fields.add(template.display);
  return template.attributes.every(({ slug }) => fields.has(slug)) ? null : [...fields].sort();
}

/** The columns as stored in the state; null if they are the initial ones. */
export function savedColumns(template: Template, shown: readonly ListColumn[]): ShownColumn[] | null {
  const [first] = shown;
  const columns = first && isAsFirst(first, template) ? shown.slice(1) : shown;
  const widths = new Map(allColumns(template).map(({ id, width }) => [id, width]));
  const initial = initialColumns(template);
  const isInitial =
    columns.length === initial.length &&
    columns.every(({ id, width }, index) => id === initial[index]?.id && width === widths.get(id));
  if (isInitial) return null;
  return columns.map(({ id, width }) => (width === widths.get(id) ? { id } : { id, width }));
}
