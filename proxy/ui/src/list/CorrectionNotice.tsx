import { SpellCheck } from "lucide-react";
import { Button } from "../components/Button";
import { messages } from "../language";
import style from "./ListPage.module.css";

const t = messages.list;

type Props = {
  typed: string;
  /** The corrected text, if the records do not contain the typed words. */
  near: { meant: string | null } | null;
  onSearch: (meant: string) => void;
};

/** Reports that the search was corrected. Always present, or else screen readers would not announce it. */
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
