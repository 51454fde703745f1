import { type ReactNode, useEffect } from "react";
import style from "./Page.module.css";

type Props = {
  title: string;
  /** Below the title: the purpose of the page, or counts. */
  lead?: ReactNode;
  /** At the top right; the last is the main action. */
  actions?: ReactNode;
  children: ReactNode;
};

/** A full page: title, main action, content. */
export function Page({ title, lead, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · keyed`;
  }, [title]);
  return (
    <div className={style.page}>
      <header className={style.head}>
        <div>
          <h1>{title}</h1>
          {lead && <p className={style.lead}>{lead}</p>}
        </div>
        {actions && <div className={style.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A section of a page, with its own heading. */
export function Section({ title, lead, actions, children }: Props) {
  return (
    <section className={style.section} aria-label={title}>
      <header className={style.head}>
        <div>
          <h2>{title}</h2>
          {lead && <p className={style.lead}>{lead}</p>}
        </div>
        {actions && <div className={style.actions}>{actions}</div>}
      </header>
      {children}
    </section>
  );
}
