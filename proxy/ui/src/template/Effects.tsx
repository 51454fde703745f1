import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import { pageMessages } from "../language/pages";
import type { Effect } from "./effects";
import style from "./template.module.css";

const ICONS = { plain: Info, attention: TriangleAlert, rejection: CircleAlert };

/** The effects of a change, before it is made. */
export function Effects({ effects, isAsking = false }: { effects: Effect[]; isAsking?: boolean }) {
  return (
    <section
      className={style.effects}
      aria-label={pageMessages.template.whatItDoes}
      aria-live="polite"
      aria-busy={isAsking}
    >
      <h3>{pageMessages.template.whatItDoes}</h3>
      {effects.length === 0 && !isAsking && <p className={style.note}>{pageMessages.template.noChange}</p>}
      <ul className={style.boxes}>
        {effects.map(({ kind, text }) => {
          const Icon = ICONS[kind];
          return (
            <li key={text} className={`${style.effect} ${style[kind]}`}>
              <Icon size={14} aria-hidden />
              <span>{text}</span>
            </li>
          );
        })}
      </ul>
      {isAsking && <p className={style.note}>{pageMessages.template.asking}</p>}
    </section>
  );
}
