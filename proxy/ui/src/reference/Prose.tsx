/** A description from the document. Text in backticks is code. */
export function Prose({ text }: { text: string }) {
  return text
    .split(/`([^`]+)`/)
    .map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part));
}
