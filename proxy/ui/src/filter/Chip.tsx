import { Fragment } from "react";
import { messages } from "../language";
import { type Condition, isAllOf, isAnyOf } from "./condition";
import style from "./FilterBar.module.css";
import { type Context, phrase, sentence } from "./sentence";

const t = messages.filter.sentence;

/** A condition as a sentence with distinct parts; a group as boxes joined by a word. */
export function Chip({ condition, context }: { condition: Condition; context: Context }) {
  const it = phrase(condition, context);
  if (it)
    return (
      <>
        <bdi className={style.subject}>{it.subject}</bdi> {it.verb}
        {it.value !== "" && (
          <>
            {" "}
            <bdi className={style.value}>{it.value}</bdi>
          </>
        )}
      </>
    );
  const parts = isAnyOf(condition) ? condition.or : isAllOf(condition) ? condition.and : null;
  if (parts === null) return <bdi>{sentence(condition, context)}</bdi>;
  return (
    <>
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <span className={style.word}> {isAnyOf(condition) ? t.orWord : t.andWord} </span>}
          <span className={style.box}>
            <Chip condition={part} context={context} />
          </span>
        </Fragment>
      ))}
    </>
  );
}
