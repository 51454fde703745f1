/** Dates and times in the pattern of an attribute, with the field letters that Unicode defines. */

const TOKENS = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+/g;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions, locale: string | undefined): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options]);
  const made = formats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  formats.set(key, made);
  return made;
}

/** The numeric fields of a moment in a time zone, by name. */
function numbers(date: Date, timeZone: string | undefined): Record<string, string> {
  const options: Intl.DateTimeFormatOptions = {
    ...{ year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23", timeZone },
  };
  const parts = format(options, "en-u-ca-gregory-nu-latn").formatToParts(date);
  // Some browsers pad hours with a zero.
  return Object.fromEntries(parts.map(({ type, value }) => [type, value.replace(/^0(?=\d)/, "")]));
}

/** A moment in a pattern such as `dd.MM.yyyy HH:mm`. Names of months and days are in the user's language. */
export function inPattern(
  date: Date,
  pattern: string,
  timeZone: string | undefined,
  locale?: string,
): string {
  const { year = "", month = "", day = "", hour = "", minute = "", second = "" } = numbers(date, timeZone);
  const name = (field: "month" | "weekday", width: "long" | "short") => {
    // Some languages inflect the name of the month next to a day.
    const options: Intl.DateTimeFormatOptions = {
      [field]: width,
      timeZone,
      ...(field === "month" && { day: "numeric" }),
    };
    return (
      format(options, locale)
        .formatToParts(date)
        .find(({ type }) => type === field)?.value ?? ""
    );
  };
  const two = (digits: string) => digits.padStart(2, "0");
  const half = String(Number(hour) % 12 || 12);
  const names = new Map<string, () => string>([
    ["MMM", () => name("month", "short")],
    ["MMMM", () => name("month", "long")],
    ["EEE", () => name("weekday", "short")],
    ["EEEE", () => name("weekday", "long")],
  ]);
  const numerals = new Map<string, string>([
    ["y", year],
    ["yy", two(year.slice(-2))],
    ["yyyy", year.padStart(4, "0")],
    ["M", month],
    ["MM", two(month)],
    ["d", day],
    ["dd", two(day)],
    ["H", hour],
    ["HH", two(hour)],
    ["h", half],
    ["hh", two(half)],
    ["m", minute],
    ["mm", two(minute)],
    ["s", second],
    ["ss", two(second)],
    ["a", Number(hour) < 12 ? "AM" : "PM"],
  ]);
  return pattern.replace(TOKENS, (token, quoted?: string) => {
    if (quoted !== undefined) return quoted === "" ? "'" : quoted.replaceAll("''", "'");
    return names.get(token)?.() ?? numerals.get(token) ?? token;
  });
}
