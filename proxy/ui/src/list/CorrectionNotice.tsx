import { SpellCheck } from "lucide-react";
import { Button } from "../components/Button";
import { words } from "../language";
import style from "./ListPage.module.css";

const t = words.list;

type Props = {
  typed: string;
  /** What was meant, where the records have other words than those that were typed. */
  near: { meant: string | null } | null;
  onSearch: (meant: string) => void;
};

/** Says that the records have other words. Its place is always there, or else screen readers would not read it out. */
export function CorrectionNotice({ typed, near, onSearch }: Props) {
  const meant = near?.meant ?? null;
  return (
    <div className={near === null ? undefined : style.meant}>
      <p role="status">
        {near !== null && (
          <>
            <SpellCheck size={16} aria-hidden /> {t.near(typed)}{" "}
            {meant === null ? (
              t.nearWords
            ) : (
              <>
                {t.nearFor} <strong dir="auto">{meant}</strong> {t.nearLike}
              </>
            )}
          </>
        )}
      </p>
      {meant !== null && <Button onPress={() => onSearch(meant)}>{t.nearExactly(meant)}</Button>}
    </div>
  );
}
