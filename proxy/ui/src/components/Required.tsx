import { messages } from "../language";
import style from "./Field.module.css";

/** The mark after the label of a required field. The field itself has `aria-required`. */
export const RequiredMark = () => (
  <span className={style.required} aria-hidden>
    {" *"}
  </span>
);

/** Explains the mark, once per form. */
export const RequiredNote = () => (
  <p className={style.hint} aria-hidden>
    {messages.components.requiredNote}
  </p>
);
