/** Detects the encoding and the delimiter of a file as the service does. */

export const DELIMITERS = [",", ";", "\t", "|"] as const;
export type Delimiter = (typeof DELIMITERS)[number];

export const ENCODINGS = ["utf-8", "windows-1252", "utf-16le", "utf-16be"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The encoding by the byte order mark, or by the first non-ASCII character; null if there is neither. */
export function encodingOf(bytes: Uint8Array): Encoding | null {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  // UTF-16 is recognized by the zero bytes of its first characters, which are mostly ASCII.
  if (bytes.length >= 4) {
    if (a === 0 && c === 0 && b && d) return "utf-16be";
    if (b === 0 && d === 0 && a && c) return "utf-16le";
  }
  const first = bytes.findIndex((byte) => byte > 127);
  if (first === -1) return null;
  return isUtf8(bytes.subarray(first, first + 4)) ? "utf-8" : "windows-1252";
}

/** Whether bytes begin with a UTF-8 character or a prefix of one. */
function isUtf8(bytes: Uint8Array): boolean {
  const [lead = 0, ...rest] = bytes;
  const length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length === 0 || lead >= 0xf5) return false;
  return rest.slice(0, length - 1).every((byte) => (byte & 0xc0) === 0x80);
}

const SEP_LINE = /^[\r\n]*"?sep=([,;\t|])"?(?=[\r\n]|$)/i;

/** Blanks a first line that names the delimiter, as spreadsheets write it. The number of lines does not change. */
export const withoutSepLine = (text: string) => text.replace(SEP_LINE, "");

/** Whether a line names the delimiter. */
export const isSepLine = (line: string) => SEP_LINE.test(line);

/** The delimiter named by a first line `sep=;`, or the most frequent candidate in the header. */
export function delimiterOf(text: string): Delimiter {
  const named = SEP_LINE.exec(text)?.[1];
  if (named !== undefined) return named as Delimiter;
  const counts = new Map<string, number>(DELIMITERS.map((it) => [it, 0]));
  let isQuoted = false;
  let found = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if ((character === "\n" || character === "\r") && !isQuoted && found) break;
    else if (!isQuoted && counts.has(character)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
      found = true;
    }
  }
  return DELIMITERS.reduce((best, it) => ((counts.get(it) ?? 0) > (counts.get(best) ?? 0) ? it : best));
}
