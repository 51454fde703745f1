import { messages } from "../language";
import style from "./ListPage.module.css";

/** Placeholder cards until the first records have loaded. */
const CARDS = 12;

export const PendingCards = () => (
  <div className={style.pendingCards} role="status" aria-busy>
    <span className="visually-hidden">{messages.list.loading}</span>
    {Array.from({ length: CARDS }, (_, card) => (
      <span key={card} className={style.pendingCard} />
    ))}
  </div>
);
