import { Check } from "lucide-react";
import { pageMessages } from "../language/pages";
import style from "./files.module.css";

const t = pageMessages.files;

export const STEPS = ["file", "columns", "trial", "run"] as const;
export type Step = (typeof STEPS)[number];

/** The current step. */
export function Steps({ step }: { step: Step }) {
  const here = STEPS.indexOf(step);
  return (
    <ol className={style.steps} aria-label={t.stepOf(here + 1, STEPS.length)}>
      {STEPS.map((name, index) => (
        <li
          key={name}
          className={`${style.step} ${index < here ? style.past : ""}`}
          aria-current={index === here ? "step" : undefined}
        >
          <span className={style.number} aria-hidden>
            {index < here ? <Check size={12} /> : index + 1}
          </span>
          {t.steps[name]}
        </li>
      ))}
    </ol>
  );
}
