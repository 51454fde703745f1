/** Renders JSON as a literal of JSON, Python or JavaScript: on one line if it fits, with every digit. */
import { isLosslessNumber, type LosslessNumber } from "../api/json";

type Syntax = {
  nothing: string;
  yes: string;
  no: string;
  /** The name of a member, quoted if the language requires it. */
  member: (name: string) => string;
  /** Whether multi-line lists and objects end in a comma. */
  hasLastComma: boolean;
  indent: string;
};

/** Characters that an editor does not show, or that change the direction of the surrounding code. */
const INVISIBLE = /[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A double-quoted string for JSON, Python and JavaScript. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    INVISIBLE,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const isName = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name);
/** `__proto__` is an ordinary member only in brackets. Otherwise it sets the prototype. */
const PROTOTYPE = "__proto__";

export const JSON_SYNTAX: Syntax = {
  nothing: "null",
  yes: "true",
  no: "false",
  member: quoted,
  hasLastComma: false,
  indent: "  ",
};
export const PYTHON: Syntax = {
  ...JSON_SYNTAX,
  nothing: "None",
  yes: "True",
  no: "False",
  hasLastComma: true,
  indent: "    ",
};
export const JAVASCRIPT: Syntax = {
  ...JSON_SYNTAX,
  member: (name) => (name === PROTOTYPE ? `[${quoted(name)}]` : isName(name) ? name : quoted(name)),
  hasLastComma: true,
};

const WIDTH = 76;

/** A value as a literal. `depth` is the indentation of its first line. */
export function literal(value: unknown, syntax: Syntax, depth = 0): string {
  if (value === null || value === undefined) return syntax.nothing;
  if (typeof value === "boolean") return value ? syntax.yes : syntax.no;
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number" || isLosslessNumber(value)) return String(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item, syntax, depth + 1));
    return enclosed(items, "[", "]", syntax, depth);
  }
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  const items = members.map(([name, item]) => `${syntax.member(name)}: ${literal(item, syntax, depth + 1)}`);
  return enclosed(items, "{", "}", syntax, depth);
}

function enclosed(items: string[], open: string, close: string, syntax: Syntax, depth: number): string {
  if (items.length === 0) return open + close;
  const space = open === "{" ? " " : "";
  const line = `${open}${space}${items.join(", ")}${space}${close}`;
  if (line.length + depth * syntax.indent.length <= WIDTH && !line.includes("\n")) return line;
  const inner = syntax.indent.repeat(depth + 1);
  const end = syntax.hasLastComma ? "," : "";
  return `${open}\n${inner}${items.join(`,\n${inner}`)}${end}\n${syntax.indent.repeat(depth)}${close}`;
}

/** Whether a language with double-precision numbers would lose digits of the value. */
export function losesDigits(value: unknown, keepsWholeNumbers: boolean): boolean {
  if (isLosslessNumber(value)) {
    return !(keepsWholeNumbers && /^-?\d+$/.test((value as LosslessNumber).value));
  }
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((item) => losesDigits(item, keepsWholeNumbers));
}
