import { Check } from "lucide-react";
import { pageWords } from "../language/pages";
import style from "./files.module.css";

const t = pageWords.files;

export const STEPS = ["file", "columns", "trial", "run"] as const;
export type Step = (typeof STEPS)[number];

/** The current step. */
export function Steps({ step }: { step: Step }) {
  const here = STEPS.indexOf(step);
  return (
    <ol className={style.steps} aria-label={t.stepOf(here + 1, STEPS.length)}>
      {STEPS.map((name, place) => (
        <li
          key={name}
          className={`${style.step} ${place < here ? style.past : ""}`}
          aria-current={place === here ? "step" : undefined}
        >
          <span className={style.number} aria-hidden>
            {place < here ? <Check size={12} /> : place + 1}
          </span>
          {t.steps[name]}
        </li>
      ))}
    </ol>
  );
}
