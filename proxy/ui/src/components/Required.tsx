import { words } from "../language";
import style from "./Field.module.css";

/** After the label of a field that needs a value. The field itself says `aria-required`. */
export const RequiredMark = () => (
  <span className={style.required} aria-hidden>
    {" *"}
  </span>
);

/** What the mark means, once in a form that has one. */
export const RequiredNote = () => (
  <p className={style.hint} aria-hidden>
    {words.components.requiredNote}
  </p>
);
