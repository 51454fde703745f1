/** The user's time zone. */

/** An IANA name that the service accepts. Browsers may also report an offset such as "+05:30". */
const NAME = /^[A-Za-z_]+(?:[/-][A-Za-z_]+)*$|^Etc\/GMT[+-]?\d+$/;

export const isZone = (name: string): boolean => name.length < 64 && NAME.test(name);

/** The names that the browser supports, after "UTC", which its list omits. */
export const zones = (): string[] => ["UTC", ...Intl.supportedValuesOf("timeZone").filter(isZone)];

/** The browser's time zone; undefined if the service does not accept its name. */
export function readerZone(): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return isZone(timeZone) ? timeZone : undefined;
}
