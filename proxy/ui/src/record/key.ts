/** Validates external keys as the service does. */

export const MAX_CHARACTERS = 255;

/** Control characters, as in Rust's `char::is_control`. The service rejects them. */
const CONTROL = /\p{Cc}/u;
/** Invisible characters that a key may contain: spaces other than U+0020, zero-width characters. */
const INVISIBLE =
  /[\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u2066-\u206f\u3000\ufeff]/u;

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

export type KeyCheck = {
  /** The key after trimming. */
  trimmed: string;
  /** Its length, in code points. */
  length: number;
  /** The number of spaces that trimming removes. */
  removed: number;
  /** The control characters in it, such as "U+0007". */
  controls: string[];
  /** Invisible characters, which are kept. */
  invisible: string[];
  isValid: boolean;
};

export function checkKey(typed: string): KeyCheck {
  const trimmed = typed.replace(/^ +| +$/g, "");
  const characters = [...trimmed];
  const found = (kind: RegExp) => [...new Set(characters.filter((it) => kind.test(it)))].map(codePoint);
  const controls = found(CONTROL);
  const { length } = characters;
  return {
    trimmed,
    length,
    removed: [...typed].length - length,
    controls,
    invisible: found(INVISIBLE),
    isValid: length >= 1 && length <= MAX_CHARACTERS && controls.length === 0,
  };
}

/** A key with symbols for control and invisible characters: a tab is ␉. */
export function withSymbols(key: string): string {
  return [...key]
    .map((character) => {
      const code = character.codePointAt(0) ?? 0;
      if (code < 0x20) return String.fromCodePoint(0x2400 + code);
      if (code === 0x7f) return "\u2421";
      return CONTROL.test(character) || INVISIBLE.test(character) ? `⟨${codePoint(character)}⟩` : character;
    })
    .join("");
}
