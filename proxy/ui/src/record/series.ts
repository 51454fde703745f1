/** The points of a metric in a range: all of them, or one per bucket of equal length. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { bodyOf, GET } from "../api/client";
import type { Point } from "./chart";
import { seriesKey } from "./store";

export const RANGES = ["day", "week", "month", "year", "all"] as const;
export type Range = (typeof RANGES)[number];

export const AGGREGATES = ["avg", "min", "max", "sum", "count", "last"] as const;
export type Aggregate = (typeof AGGREGATES)[number];

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LENGTH: Record<Range, number | null> = {
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  year: 365 * DAY,
  all: null,
};
/** Bucket sizes that give a few hundred points per range. For all points, the second applies if the first gives more. */
const BUCKETS: Record<Range, readonly string[]> = {
  day: ["10m"],
  week: ["1h"],
  month: ["6h"],
  year: ["1d"],
  all: ["1d", "7d"],
};
const MAX_POINTS = 1000;

/** `bucket`: the size of each bucket; null if the points are not aggregated. */
export type Series = { points: Point[]; bucket: string | null };

type Query = { from?: string; bucket?: string; aggregate?: Aggregate };

async function page(id: string, slug: string, query: Query, signal: AbortSignal) {
  const params = { path: { id, slug }, query: { ...query, limit: MAX_POINTS } };
  return bodyOf(GET("/v1/entities/{id}/metrics/{slug}", { params, signal }));
}

/** @param aggregate null for all points, or averages if there are too many */
export function useSeries(id: string, slug: string, range: Range, aggregate: Aggregate | null) {
  const from = useMemo(() => {
    const length = LENGTH[range];
    return length === null ? {} : { from: new Date(Date.now() - length).toISOString() };
  }, [range]);
  return useQuery({
    queryKey: [...seriesKey(id, slug), range, aggregate, from],
    queryFn: async ({ signal }): Promise<Series> => {
      if (aggregate === null) {
        const every = await page(id, slug, from, signal);
        if (every.next_cursor === null) return { points: every.points, bucket: null };
      }
      const [first = "1d", ...wider] = BUCKETS[range];
      for (const bucket of [first, ...wider]) {
        const found = await page(id, slug, { ...from, bucket, aggregate: aggregate ?? "avg" }, signal);
        if (found.next_cursor === null || bucket === (wider.at(-1) ?? first))
          return { points: found.points, bucket };
      }
      return { points: [], bucket: null };
    },
    placeholderData: keepPreviousData,
  });
}
