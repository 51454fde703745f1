/** The time zone of the reader. */

/** A name of the IANA database as the service takes it. Browsers also say "+05:30" of a machine that is set so. */
const NAME = /^[A-Za-z_]+(?:[/-][A-Za-z_]+)*$|^Etc\/GMT[+-]?\d+$/;

export const isZone = (name: string): boolean => name.length < 64 && NAME.test(name);

/** The names that the browser knows, "UTC" first, which it leaves out. */
export const zones = (): string[] => ["UTC", ...Intl.supportedValuesOf("timeZone").filter(isZone)];

/** The zone in which the browser shows times; undefined if the service knows no such name. */
export function readerZone(): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return isZone(timeZone) ? timeZone : undefined;
}
