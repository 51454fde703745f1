/** Checks a mapping against a sample. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { bodyOf, inProject, POST } from "../api/client";
import { isLosslessNumber, type Json, parseJson, renderJson } from "../api/json";
import { inSentences, sentence } from "../api/problem";
import { useSession } from "../session/session";
import { type Draft, membersOf } from "./draft";
import type { Rejection } from "./queries";

export type Item = { external_key?: string | null; attributes?: { [attribute: string]: Json } };

export type Trial = { items: Item[]; created: number; updated: number; error: Rejection | null };

/** The pasted text as JSON, or the syntax error. */
export function readSample(text: string): { payload?: Json; error?: string } {
  if (text.trim() === "") return {};
  try {
    return { payload: parseJson(text) };
  } catch (error) {
    return { error: sentence(error) };
  }
}

/** The error message for a value of an item; `member` is `external_key` or `attributes/city`. */
export function rejectionAt(error: Rejection | null, item: number, member: string): string | undefined {
  const itemPointer = `/items/${item}/${member}`;
  return error?.errors?.find(
    ({ pointer }) => pointer === itemPointer || pointer.startsWith(`${itemPointer}/`),
  )?.detail;
}

/** The items that have an invalid value, in order. */
export function rejectedItems(error: Rejection | null): number[] {
  const items = (error?.errors ?? []).flatMap(({ pointer }) => pointer.match(/^\/items\/(\d+)\//)?.[1] ?? []);
  return [...new Set(items.map(Number))].sort((a, b) => a - b);
}

/** The display text of a value in the resulting record. */
export function shownValue(value: Json): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(shownValue).join(", ");
  if (typeof value === "object" && value !== null && !isLosslessNumber(value) && "external_key" in value)
    return shownValue(value.external_key ?? null);
  return renderJson(value);
}

const PAUSE = 350;

/** A value, debounced. */
function useDebounced<T>(value: T): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}

/** The result of delivering the sample. Checked again after draft or sample stop changing. */
export function useTrial(project: string, endpoint: string, draft: Draft, sample: string) {
  const { key } = useSession();
  const debounced = useDebounced(useMemo(() => ({ draft, sample }), [draft, sample]));
  const { payload } = useMemo(() => readSample(debounced.sample), [debounced.sample]);
  const last = useRef<Trial>(undefined);
  const trial = useQuery({
    queryKey: [key, "trial", project, endpoint, membersOf(debounced.draft), debounced.sample],
    queryFn: async () => {
      const found = (await bodyOf(
        POST("/v1/inbound-endpoints/{endpoint}/dry-run", {
          params: { path: { endpoint }, header: inProject(project) },
          body: { payload, ...membersOf(debounced.draft) },
        }),
      )) as unknown as Trial;
      return { ...found, error: found.error && inSentences(found.error) };
    },
    enabled: payload !== undefined,
    // While a path is incomplete, the result of the last complete draft stays.
    placeholderData: () => last.current,
    retry: false,
  });
  if (trial.isSuccess && !trial.isPlaceholderData) last.current = trial.data;
  return { result: trial.data ?? last.current, error: trial.error, isOld: trial.isFetching || trial.isError };
}
