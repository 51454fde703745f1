/** Points in time as relative text. */

const SPANS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

// A time 20 hours ago may be today or yesterday, so neither word is used.
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: "always" });
const nowFormat = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** "5 minutes ago", "tomorrow", "in 3 weeks". */
export function relativeTime(instant: string, now = Date.now()): string {
  const seconds = (new Date(instant).getTime() - now) / 1000;
  if (Math.abs(seconds) < 10) return nowFormat.format(0, "second");
  // A time that almost fills a unit is given in it: a year less a minute is a year, not eleven months.
  const [unit, length] = SPANS.find(([, length]) => Math.abs(seconds) >= 0.95 * length) ?? ["second", 1];
  return relativeFormat.format(Math.round(seconds / length), unit);
}

/** The day and time in the user's time zone. */
export const exactTime = (instant: string): string => exactFormat.format(new Date(instant));

export const isPast = (instant: string, now = Date.now()): boolean => new Date(instant).getTime() <= now;
