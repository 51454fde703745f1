import style from "./Code.module.css";
import { CopyButton } from "./CopyButton";

/** A line or a block of code, an address or a secret, with its copy button. */
export function Code({ text, what, isBlock = false }: { text: string; what: string; isBlock?: boolean }) {
  return (
    <div className={`${style.code} ${isBlock ? style.block : ""}`}>
      <pre dir="ltr" tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
