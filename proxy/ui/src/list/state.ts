/** The state of a list, all of which is in the address. */
import type { Schemas } from "../api/client";
import { renderJson } from "../api/json";
import { type Condition, haveDay } from "../filter/condition";
import { readerZone } from "../format/zone";
import { type SortBy, sortText, startConditions } from "./sort";

export type Mode = "words" | "meaning" | "both";
export type Layout = "table" | "cards";
/** A column after that of the external key, in the order of the list. Without a width it has that of its type. */
export type ShownColumn = { id: string; width?: number };

/** The time zone of a project, which a view means that says none. */
export const OF_PROJECT = "project";

export type ListState = {
  search: string;
  mode: Mode;
  conditions: Condition[];
  /** The time zone of the days in conditions: null for that of the reader, in which times are shown, or `OF_PROJECT`. */
  timeZone: string | null;
  sort: SortBy[];
  /** The value of the first sort field at which the list begins; null for its beginning. */
  start: string | null;
  /** Deleted records are shown instead of live ones. */
  isDeleted: boolean;
  /** The saved view that the list began with. */
  view: string | null;
  layout: Layout;
  /** Null for the columns that a list of this template has at first. */
  columns: ShownColumn[] | null;
};

/** A list as it is asked for: with `isNear`, also by words that differ in a letter from those that were typed. */
export type Searched = ListState & { isNear?: boolean };

/** Where a table would show two columns, cards are shown at first. */
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

/** Whether records are ranked by meaning, which the service does without sort, cursor and count. */
export const isRanked = ({ search, mode, isDeleted }: ListState): boolean =>
  search.trim() !== "" && mode !== "words" && !isDeleted;

/** Matches deleted records only. */
const DELETED: Condition = { field: "deleted_at", operator: "not-empty" };

/** The ways to search that a list offers: by meaning where the service embeds texts and the template has vectors. */
export function modesOf(
  takesText: boolean,
  embed: readonly string[] | null | undefined,
  current: Mode,
): readonly Mode[] {
  // The definition does not report vectors written by callers. An address or a view may still search by them.
  const hasVectors = (embed?.length ?? 0) > 0 || current !== "words";
  return takesText && hasVectors ? ["words", "meaning", "both"] : ["words"];
}

/** The service corrects only words of at least five letters in a row. */
const MAY_BE_WRONG = /[\p{L}\p{M}]{5}/u;

/** Whether a search without results may contain a typo. */
export const mayBeMisspelt = ({ search, mode, isDeleted }: ListState): boolean =>
  mode === "words" && !isDeleted && MAY_BE_WRONG.test(search);

/** The search of a list: its terms and conditions. */
export function searchBody(state: Searched): SearchBody {
  // The service keeps the words of live records only.
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
  if (haveDay(conditions) && zone !== undefined && zone !== OF_PROJECT) body.time_zone = zone;
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

/** Records of the first page, which fill a screen soon, and of the pages after it. */
const FIRST = 50;
const NEXT = 200;

/** What all pages of a list ask for. Null stands for all fields. */
export const listBody = (state: Searched, fields: readonly string[] | null): SearchBody => ({
  ...searchBody(state),
  ...(fields === null ? {} : { fields: [...fields] }),
  verbose: true,
});

/** The page of a list that follows a cursor; null for the first. Of ranked records there is no other page. */
export const pageBody = (body: SearchBody, isRanked: boolean, cursor: string | null): SearchBody =>
  cursor === null ? { ...body, limit: isRanked ? NEXT : FIRST } : { ...body, limit: NEXT, cursor };

/**
 * Finds those of these records that match a list. A ranking says nothing about single records, so all of them match a ranked
 * list that exist.
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
 * The search that a list at an address begins with; null if the address does not determine it: a saved view is read
 * first, and so is whether the service searches by meaning. Null fields stand for all.
 */
export function firstPageBody(state: ListState, fields: readonly string[] | null): SearchBody | null {
  const isView = state.view !== null && state.conditions.length === 0 && state.search === "";
  return isView || isRanked(state) ? null : pageBody(listBody(state, fields), false, null);
}

/** Whether two states find the same records. */
export const findTheSame = (a: ListState, b: ListState): boolean =>
  renderJson({ ...searchBody(a), sort: null }) === renderJson({ ...searchBody(b), sort: null });
