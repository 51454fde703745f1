/** Reads show what this page wrote, and the changes that it was told of, also where replicas answer them. */

/** A replica replays a change within this many milliseconds, unless it lags. */
const LATEST = 5_000;

let newest = "";
let primaryUntil = Number.NEGATIVE_INFINITY;

/** A position of the log as a number. */
function numberOf(position: string): bigint {
  const [high = "", low = ""] = position.split("/");
  return /^[0-9a-f]{1,8}$/i.test(high) && /^[0-9a-f]{1,8}$/i.test(low)
    ? (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
    : -1n;
}

/** Keeps the position of a response, if it is the newest. */
export function learnPosition(response: Response): void {
  const position = response.headers.get("x-keyed-position") ?? "";
  if (numberOf(position) > numberOf(newest)) newest = position;
}

/** Has the primary answer reads for a moment: the page knows of a change and not of its position. */
export function readFromPrimary(): void {
  primaryUntil = performance.now() + LATEST;
}

/** Asks for a response that shows what is known here. */
export function askForFreshness(headers: Headers): void {
  if (newest !== "") headers.set("x-keyed-position", newest);
  if (performance.now() < primaryUntil) headers.set("x-keyed-read", "primary");
}

/** Forgets everything: another session may begin after a restore. */
export function forgetPosition(): void {
  newest = "";
  primaryUntil = Number.NEGATIVE_INFINITY;
}
