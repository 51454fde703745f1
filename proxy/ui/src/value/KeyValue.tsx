import { Copy } from "lucide-react";
import { IconButton } from "../components/Button";
import { showToast } from "../components/toast";
import { messages } from "../language";
import style from "./KeyValue.module.css";
import { EmptyValue } from "./Value";

const t = messages.value;

/** Copies an external key and shows a message. */
export async function copyKey(key: string) {
  await navigator.clipboard.writeText(key);
  showToast(t.copied(key));
}

/** An external key, monospaced, with a copy button. An empty one is a faint dash. */
export function KeyValue({ value, isCopied = true }: { value: string | null; isCopied?: boolean }) {
  if (value === null) return <EmptyValue />;
  return (
    <span className={style.key}>
      <code dir="auto" title={value}>
        {value}
      </code>
      {isCopied && <IconButton icon={Copy} label={t.copyKey} size="small" onPress={() => copyKey(value)} />}
    </span>
  );
}
