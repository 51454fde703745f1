import { useQuery } from "@tanstack/react-query";
import { memo, useEffect, useState } from "react";
import { inBackground } from "../api/backgroundQueue";
import { bodyOf, GET } from "../api/client";
import { useSession } from "../session/session";
import { sparkPath } from "./spark";
import style from "./Value.module.css";

const WIDTH = 44;
const HEIGHT = 14;
/** The number of days before the last point that are shown, with the last value of each. */
const DAYS = 30;
/** Milliseconds that a row must be visible before its points are requested. */
const PAUSE = 500;

async function fetchPoints(id: string, slug: string, until: string, signal: AbortSignal) {
  const from = new Date(Date.parse(until) - DAYS * 86_400_000).toISOString();
  const query = { from, bucket: "1d", aggregate: "last" as const, limit: DAYS + 2 };
  const { points } = await bodyOf(
    GET("/v1/entities/{id}/metrics/{slug}", { params: { path: { id, slug }, query }, signal }),
  );
  return points.flatMap(({ at, value }) => (value === null ? [] : [{ at, value: Number(value) }]));
}

type Props = { id: string; slug: string; until: string };

/** The last month of a metric as a small line next to its value. */
export const Sparkline = memo(function Sparkline({ id, slug, until }: Props) {
  const { key } = useSession();
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), PAUSE);
    return () => clearTimeout(timer);
  }, []);
  const points = useQuery({
    queryKey: [key, "spark", id, slug, until],
    queryFn: ({ signal }) =>
      inBackground(() => {
        signal.throwIfAborted();
        return fetchPoints(id, slug, until, signal);
      }),
    enabled: isSettled,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const path = sparkPath(points.data ?? [], WIDTH, HEIGHT);
  return (
    <svg
      className={style.spark}
      width={WIDTH}
      height={HEIGHT + 2}
      viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
      aria-hidden
    >
      {path && <path d={path} />}
    </svg>
  );
});
