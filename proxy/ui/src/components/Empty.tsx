import { CircleDashed, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import style from "./Empty.module.css";

type Props = {
  icon?: LucideIcon;
  /** The missing thing. */
  title: string;
  /** Rendered as a section of a page. */
  isPart?: boolean;
  /** The reason, in one sentence. */
  children?: ReactNode;
  /** The main action. */
  action?: ReactNode;
};

/** The empty state of a page, centered in the free area. */
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
