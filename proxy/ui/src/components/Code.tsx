import style from "./Code.module.css";
import { CopyButton } from "./CopyButton";

/** A line or block of code, an address or a secret, with a copy button. */
export function Code({ text, what, isBlock = false }: { text: string; what: string; isBlock?: boolean }) {
  return (
    <div className={`${style.code} ${isBlock ? style.block : ""}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <pre dir="ltr" role="group" tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
