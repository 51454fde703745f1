import type { ReactNode } from "react";
import style from "./Tag.module.css";

/** A short label in a box, such as a list value or a state. */
export function Tag({
  kind = "plain",
  children,
}: {
  kind?: "plain" | "good" | "attention" | "bad";
  children: ReactNode;
}) {
  return (
    <span className={`${style.tag} ${style[kind]}`} dir="auto">
      {children}
    </span>
  );
}
