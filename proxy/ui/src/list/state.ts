/** The state of a list, all of which is in the address. */
import type { Schemas } from "../api/client";
import { renderJson } from "../api/json";
import { type Condition, containDay } from "../filter/condition";
import { readerZone } from "../format/zone";
import { type SortBy, sortText, startConditions } from "./sort";

export type Mode = "words" | "meaning" | "both";
export type Layout = "table" | "cards";
/** A column after the external key, in list order. Without a width, the default of its type applies. */
export type ShownColumn = { id: string; width?: number };

/** Stands for the time zone of the project, which applies to views that specify none. */
export const OF_PROJECT = "project";

export type ListState = {
  search: string;
  mode: Mode;
  conditions: Condition[];
  /** The time zone of days in conditions: null for the user's, in which times are shown, or `OF_PROJECT`. */
  timeZone: string | null;
  sort: SortBy[];
  /** The value of the first sort field at which the list starts; null for its beginning. */
  start: string | null;
  /** Show deleted records instead of live ones. */
  isDeleted: boolean;
  /** The saved view that the list opened. */
  view: string | null;
  layout: Layout;
  /** Null for the initial columns of the template. */
  columns: ShownColumn[] | null;
};

/** A list with the parameters of its requests. `isNear` also matches words with a typo. */
export type Searched = ListState & { isNear?: boolean };

/** Below this width, a table would show only two columns, so cards are the initial layout. */
const isNarrow = typeof window !== "undefined" && window.matchMedia?.("(max-width: 480px)").matches;

export const INITIAL: ListState = {
  search: "",
  mode: "words",
  conditions: [],
  timeZone: null,
  sort: [],
  start: null,
  isDeleted: false,
  view: null,
  layout: isNarrow ? "cards" : "table",
  columns: null,
};

export type SearchBody = Schemas["Search"];

/** Whether records are ranked by meaning. The service then supports no sort, cursor or count. */
export const isRanked = ({ search, mode, isDeleted }: ListState): boolean =>
  search.trim() !== "" && mode !== "words" && !isDeleted;

/** Matches deleted records only. */
const DELETED: Condition = { field: "deleted_at", operator: "not-empty" };

/** The search modes of a list: by meaning only if the service embeds text and the template has vectors. */
export function modesOf(
  takesText: boolean,
  embed: readonly string[] | null | undefined,
  current: Mode,
): readonly Mode[] {
  // The definition does not report vectors written by callers. An address or a view may still search by meaning.
  const hasVectors = (embed?.length ?? 0) > 0 || current !== "words";
  return takesText && hasVectors ? ["words", "meaning", "both"] : ["words"];
}

/** The service corrects only words of at least five letters in a row. */
const CORRECTABLE = /[\p{L}\p{M}]{5}/u;

/** Whether a search without results may contain a typo. */
export const mayHaveTypo = ({ search, mode, isDeleted }: ListState): boolean =>
  mode === "words" && !isDeleted && CORRECTABLE.test(search);

/** The search of a list: its terms and conditions. */
export function searchBody(state: Searched): SearchBody {
  // The service indexes text of live records only.
  const search = state.isDeleted ? "" : state.search.trim();
  const body: SearchBody = state.isDeleted ? { include_deleted: true } : {};
  const conditions = [
    ...state.conditions,
    ...(state.isDeleted ? [DELETED] : []),
    // Ranked results have no start value.
    ...(isRanked(state) ? [] : startConditions(state)),
  ];
  if (conditions.length > 0) body.filters = conditions as NonNullable<SearchBody["filters"]>;
  const zone = state.timeZone ?? readerZone();
  if (containDay(conditions) && zone !== undefined && zone !== OF_PROJECT) body.time_zone = zone;
  if (isRanked(state)) {
    body.query_text = search;
    body.mode = state.mode === "meaning" ? "semantic" : "hybrid";
    if (state.mode === "both") body.global_search = search;
    return body;
  }
  if (search !== "") body.global_search = search;
  if (state.isNear === true) body.fuzzy = "auto";
  if (state.sort.length > 0) body.sort = sortText(state.sort);
  return body;
}

/** The page size of the first page, which fills a screen quickly, and of later pages. */
const FIRST = 50;
const NEXT = 200;

/** The request of all pages of a list. Null requests all fields. */
export const listBody = (state: Searched, fields: readonly string[] | null): SearchBody => ({
  ...searchBody(state),
  ...(fields === null ? {} : { fields: [...fields] }),
  verbose: true,
});

/** The page of a list after a cursor; null for the first. Ranked records have only one page. */
export const pageBody = (body: SearchBody, isRanked: boolean, cursor: string | null): SearchBody =>
  cursor === null ? { ...body, limit: isRanked ? NEXT : FIRST } : { ...body, limit: NEXT, cursor };

/**
 * Requests the given records that match a list. A ranking does not decide whether a record matches, so in a ranked list
 * all existing records match.
 */
export function matchingBody(list: SearchBody, isRanked: boolean, ids: readonly string[]): SearchBody {
  const { query_text: _, mode: __, global_search: words, ...body } = list;
  const isOneOf = { field: "id", operator: "in", value: [...ids] };
  return {
    ...body,
    ...(isRanked || words === undefined ? {} : { global_search: words }),
    filters: [...(body.filters ?? []), isOneOf] as NonNullable<SearchBody["filters"]>,
    limit: ids.length,
  };
}

/**
 * The first search of a list at an address; null if the address does not determine it. A saved view, and whether the
 * service supports search by meaning, must be loaded first. Null fields request all.
 */
export function firstPageBody(state: ListState, fields: readonly string[] | null): SearchBody | null {
  const isView = state.view !== null && state.conditions.length === 0 && state.search === "";
  return isView || isRanked(state) ? null : pageBody(listBody(state, fields), false, null);
}

/** Whether two states find the same records. */
export const findSameRecords = (a: ListState, b: ListState): boolean =>
  renderJson({ ...searchBody(a), sort: null }) === renderJson({ ...searchBody(b), sort: null });
