/** The line of a sparkline. */

export type Point = { at: string; value: number };

/** The path of points over time, within a box; empty if there is no line to draw. */
export function sparkPath(points: readonly Point[], width: number, height: number): string {
  const times = points.map(({ at }) => Date.parse(at));
  const values = points.map(({ value }) => value);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (points.length < 2 || first === last) return "";
  const x = (time: number) => ((time - first) / (last - first)) * width;
  const y = (value: number) => (high === low ? height / 2 : height - ((value - low) / (high - low)) * height);
  return points
    .map(({ value }, index) => `${x(times[index] ?? first).toFixed(1)} ${y(value).toFixed(1)}`)
    .map((point, index) => (index === 0 ? `M${point}` : `L${point}`))
    .join("");
}
