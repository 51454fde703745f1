/** Points in time as people say them. */

const SPANS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** "5 minutes ago", "tomorrow", "in 3 weeks". */
export function relativeTime(instant: string, now = Date.now()): string {
  const seconds = (new Date(instant).getTime() - now) / 1000;
  if (Math.abs(seconds) < 10) return relativeFormat.format(0, "second");
  // The largest unit that fits once; a value that rounds up to the next unit still says this one.
  const [unit, length] = SPANS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return relativeFormat.format(Math.trunc(seconds / length), unit);
}

/** The day and time on the reader's clock. */
export const exactTime = (instant: string): string => exactFormat.format(new Date(instant));

export const isPast = (instant: string, now = Date.now()): boolean => new Date(instant).getTime() <= now;
