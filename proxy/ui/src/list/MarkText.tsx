import { words } from "../language";
import { actorName } from "../record/sentences";
import type { Mark } from "./live";

const t = words.list;

/** What others did with a record: "Changed by Anna". */
export function markSentence({ kind, actor }: Mark): string {
  const text = t.marks[kind];
  if (actor === null || kind === "gone") return text;
  return kind === "left" ? t.markAfter(text, actorName(actor)) : t.markBy(text, actorName(actor));
}

/** The same for screen readers, before what the record shows. */
export function MarkText({ mark }: { mark: Mark | undefined }) {
  return mark && <span className="visually-hidden">{markSentence(mark)}: </span>;
}
