import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { words } from "../language";
import { Button, IconButton } from "./Button";

const t = words.components;
const SHOWN_FOR = 2_000;

/** Puts a text into the clipboard, also where the page is served without TLS. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  // In a dialog, focus may not leave it.
  (document.querySelector("[role=dialog],[role=alertdialog]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Whether the text was copied just now, and the copying. */
function useCopy(text: string) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => copyText(text).then(() => setCopied(true));
  return { isCopied, copy };
}

type Props = {
  /** What is put into the clipboard. */
  text: string;
  /** What it is, for "Copy …". */
  what: string;
  size?: "small" | "normal";
};

/** Copies a text: an icon that turns into a tick. */
export function CopyButton({ text, what, size = "small" }: Props) {
  const { isCopied, copy } = useCopy(text);
  return (
    <>
      <IconButton
        icon={isCopied ? Check : Copy}
        label={isCopied ? t.copied : t.copy(what)}
        size={size}
        onPress={copy}
      />
      <span className="visually-hidden" aria-live="polite">
        {isCopied ? t.copied : ""}
      </span>
    </>
  );
}

/** The same with words, where copying is the action of the place. */
export function CopyTextButton({ text, what, isMain = false }: Props & { isMain?: boolean }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <Button kind={isMain ? "main" : "plain"} icon={isCopied ? Check : Copy} onPress={copy}>
      {isCopied ? t.copied : t.copy(what)}
    </Button>
  );
}
