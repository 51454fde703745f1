/**
 * The state of a list as the query of its address, short and readable:
 *
 *     ?q=river&f=city:in:Bern,Basel&s=-price,title&view=big&l=cards&c=name.240,city
 *     ?f=seen:today&z=Europe/Zurich
 *     ?s=price&start=100
 */
import { decodeConditions, encodeConditions } from "../filter/address";
import { containDay } from "../filter/condition";
import { isZone } from "../format/zone";
import { MAX_SORTS, type SortBy, sortText } from "./sort";
import { INITIAL, type ListState, type Mode, type ShownColumn } from "./state";

const FIELD = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/;
const SLUG = /^[a-z][a-z0-9_]*$/;
export const MIN_WIDTH = 48;
export const MAX_WIDTH = 1200;

/** Percent-encodes only the characters that a query requires, and leaves the rest readable. */
const encoded = (text: string): string =>
  encodeURIComponent(text)
    .replace(/%(?:3A|2C|40|2F|3B)/gi, decodeURIComponent)
    .replace(/%20/g, "+");

export function encodeColumns(columns: readonly ShownColumn[]): string {
  return columns.map(({ id, width }) => (width === undefined ? id : `${id}.${Math.round(width)}`)).join(",");
}

export function decodeColumns(text: string): ShownColumn[] {
  const seen = new Set<string>();
  return text.split(",").flatMap((part) => {
    const [id = "", size] = part.split(".");
    if (!SLUG.test(id) || seen.has(id)) return [];
    seen.add(id);
    const width = Number(size);
    const isWidth = size !== undefined && width >= MIN_WIDTH && width <= MAX_WIDTH;
    return [isWidth ? { id, width } : { id }];
  });
}

function decodeSort(text: string): SortBy[] {
  return text
    .split(",")
    .map((part) => ({ field: part.replace(/^-/, ""), isDescending: part.startsWith("-") }))
    .filter(({ field }) => FIELD.test(field))
    .slice(0, MAX_SORTS);
}

/** The query without its question mark; empty for the initial state. */
export function encodeState(state: ListState): string {
  const parts: [string, string][] = [];
  if (state.search !== "") parts.push(["q", state.search]);
  if (state.mode !== INITIAL.mode) parts.push(["m", state.mode]);
  for (const text of encodeConditions(state.conditions)) parts.push(["f", text]);
  if (state.timeZone !== null && containDay(state.conditions)) parts.push(["z", state.timeZone]);
  if (state.sort.length > 0) parts.push(["s", sortText(state.sort)]);
  if (state.sort.length > 0 && state.start !== null) parts.push(["start", state.start]);
  if (state.isDeleted) parts.push(["deleted", "yes"]);
  if (state.view !== null) parts.push(["view", state.view]);
  if (state.layout !== INITIAL.layout) parts.push(["l", state.layout]);
  if (state.columns !== null) parts.push(["c", encodeColumns(state.columns)]);
  return parts.map(([name, value]) => `${name}=${encoded(value)}`).join("&");
}

/** The state in a query. Invalid parts keep their initial value. */
export function decodeState(query: string): ListState {
  const parts = new URLSearchParams(query);
  const mode = parts.get("m");
  const columns = parts.get("c");
  const zone = parts.get("z");
  const layout = parts.get("l");
  return {
    search: parts.get("q") ?? "",
    mode: mode === "meaning" || mode === "both" ? (mode as Mode) : "words",
    conditions: decodeConditions(parts.getAll("f")).conditions,
    timeZone: zone !== null && isZone(zone) ? zone : null,
    sort: decodeSort(parts.get("s") ?? ""),
    start: parts.get("start"),
    isDeleted: parts.get("deleted") === "yes",
    view: parts.get("view"),
    layout: layout === "cards" || layout === "table" ? layout : INITIAL.layout,
    columns: columns === null ? null : decodeColumns(columns),
  };
}

/** The query parameters of the record in front of the list. */
export function recordParts(query: string): string {
  const parts = new URLSearchParams(query);
  const kept = ["record", "tab"].flatMap((name) => {
    const value = parts.get(name);
    return value === null ? [] : [`${name}=${encoded(value)}`];
  });
  return kept.join("&");
}

/** An address suffix with these query parameters. */
export function queryWith(parts: readonly string[]): string {
  const filled = parts.filter((part) => part !== "");
  return filled.length === 0 ? "" : `?${filled.join("&")}`;
}
