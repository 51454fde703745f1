import { CircleDashed, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import style from "./Empty.module.css";

type Props = {
  icon?: LucideIcon;
  /** What the place has none of. */
  title: string;
  /** A part of a page, among others that have something. */
  isPart?: boolean;
  /** Why, in one sentence. */
  children?: ReactNode;
  /** The main action of the place. */
  action?: ReactNode;
};

/** A place with nothing in it, in the middle of the free area. */
export function Empty({ icon: Icon = CircleDashed, title, isPart = false, children, action }: Props) {
  const Title = isPart ? "p" : "h2";
  return (
    <div className={`${style.empty} ${isPart ? style.part : style.whole}`}>
      <span className={style.icon}>
        <Icon size={isPart ? 18 : 24} aria-hidden />
      </span>
      <Title className={style.title}>{title}</Title>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}
