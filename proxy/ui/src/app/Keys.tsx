import { messages } from "../language";
import style from "./Keys.module.css";

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
const names: Record<string, string> = messages.frame.keys;

/** A shortcut in the notation of the user's keyboard. */
export function Keys({ keys }: { keys: string }) {
  const hasModifier = keys.startsWith("mod+");
  const key = hasModifier ? keys.slice(4) : keys;
  const name = names[key] ?? (hasModifier ? key.toUpperCase() : key);
  return (
    <span className={style.keys}>
      {hasModifier && <kbd>{isApple ? "⌘" : names.Control}</kbd>}
      <kbd>{name}</kbd>
    </span>
  );
}
