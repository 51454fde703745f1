import { messages } from "../language";
import { actorName } from "../record/sentences";
import type { Mark } from "./live";

const t = messages.list;

/** A change by another user: "Changed by Anna". */
export function markSentence({ kind, actor }: Mark): string {
  const text = t.marks[kind];
  if (actor === null || kind === "gone") return text;
  return kind === "left" ? t.markAfter(text, actorName(actor)) : t.markBy(text, actorName(actor));
}

/** The same for screen readers, before the values of the record. */
export function MarkText({ mark }: { mark: Mark | undefined }) {
  return mark && <span className="visually-hidden">{markSentence(mark)}: </span>;
}
