/** The coordinates of a series in a drawing that extends from 0 to 1 in both directions. */
import type { ExactNumber } from "../api/json";

export type Point = { at: string; value: ExactNumber | null };
export type Coordinates = { x: number; y: number; point: Point };
export type Drawing = { plotted: Coordinates[]; ticks: number[]; low: number; high: number };

/** A round step (1, 2 or 5 times a power of ten) of which about `count` fill the range. */
export function niceStep(range: number, count: number): number {
  const rough = range / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5].find((it) => it * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** Round numbers that enclose the values. */
export function niceTicks(low: number, high: number, count = 3): number[] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  const [from, to] =
    low === high ? [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2] : [low, high];
  const step = niceStep(to - from, count);
  const first = Math.floor(from / step + 1e-9);
  const last = Math.ceil(to / step - 1e-9);
  const digits = Math.max(0, Math.min(20, -Math.floor(Math.log10(step))));
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toFixed(digits)),
  );
}

/** Points without a value are left out. The line connects their neighbors. */
export function draw(points: readonly Point[]): Drawing {
  const known = points.filter((point) => point.value !== null);
  const values = known.map((point) => Number(point.value));
  const times = known.map((point) => Date.parse(point.at));
  const ticks = niceTicks(Math.min(...values), Math.max(...values));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const [start, end] = [times[0] ?? 0, times.at(-1) ?? 0];
  const plotted = known.map((point, index) => ({
    x: end === start ? 0.5 : ((times[index] ?? start) - start) / (end - start),
    y: (Number(point.value) - low) / (high - low || 1),
    point,
  }));
  return { plotted, ticks, low, high };
}

const digits = (value: number): number => Math.round(value * 10_000) / 10_000;

/** The line through the points, in a box of this size with y = 0 at the top. */
export function line(plotted: readonly Coordinates[], width: number, height: number): string {
  return plotted
    .map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${digits(x * width)} ${digits((1 - y) * height)}`)
    .join("");
}

/** The points as dots: zero-length lines with round caps, which stretching does not distort. */
export function dots(plotted: readonly Coordinates[], width: number, height: number): string {
  return plotted.map(({ x, y }) => `M${digits(x * width)} ${digits((1 - y) * height)}h0`).join("");
}

/** The index of the point nearest to `x`; -1 without points. */
export function nearest(plotted: readonly Coordinates[], x: number): number {
  let best = -1;
  let distance = Number.POSITIVE_INFINITY;
  plotted.forEach((coordinates, index) => {
    if (Math.abs(coordinates.x - x) < distance) [best, distance] = [index, Math.abs(coordinates.x - x)];
  });
  return best;
}
