/** Whether a CSV cell is valid for an attribute, by the rules of the service. Only the service checks references. */
import type { Attribute } from "../api/queries";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATETIME = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})$/;
const MAX_KEY = 255;

export type CellCheck = "fits" | "empty" | "rejected" | "unknown";

/** Checks one cell. A leading `'` marks text that a spreadsheet would take for a formula. */
export function checkCell(attribute: Attribute, cell: string): CellCheck {
  if (cell === "") return attribute.required ? "rejected" : "empty";
  switch (attribute.type) {
    case "number":
      return fits(NUMBER.test(cell));
    case "boolean":
      return fits(/^(true|false)$/i.test(cell));
    case "date":
      return fits(isDate(DATE.exec(cell)));
    case "datetime":
      return fits(isDate(DATETIME.exec(cell)));
    case "metric":
      return fits(NUMBER.test(cell) || isJson(cell));
    case "list":
      return checkListCell(attribute, cell);
    case "reference":
      return "unknown";
    default:
      return "fits";
  }
}

/** Checks a cell of the key column. */
export function checkKeyCell(cell: string): CellCheck {
  const key = cell.replace(/^ +| +$/g, "");
  return fits(key !== "" && [...key].length <= MAX_KEY && !/\p{Cc}/u.test(key));
}

const fits = (does: boolean): CellCheck => (does ? "fits" : "rejected");

function isDate(parts: RegExpExecArray | null): boolean {
  if (!parts) return false;
  const [year, month, day] = parts.slice(1, 4).map(Number) as [number, number, number];
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  // Day 0 of the next month is the last of this one. Year 2000 + n preserves leap years of early centuries.
  return day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

function isJson(cell: string): boolean {
  if (!/^[[{]/.test(cell)) return false;
  try {
    JSON.parse(cell);
    return true;
  } catch {
    return false;
  }
}

function checkListCell(attribute: Attribute, cell: string): CellCheck {
  const elements = elementsOf(cell);
  if (elements === null) return "rejected";
  const options = attribute.options;
  return fits(!options || elements.every((it) => options.some(({ value }) => value === it)));
}

function elementsOf(cell: string): string[] | null {
  if (!cell.startsWith("[")) return cell.split(";");
  try {
    const value = JSON.parse(cell) as unknown[];
    return value.every((it) => typeof it === "string") ? (value as string[]) : null;
  } catch {
    return null;
  }
}
