import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { messages } from "../language";
import { Button, IconButton } from "./Button";

const t = messages.components;
const DISPLAY_TIME = 2_000;

/** Copies text to the clipboard, even if the page is served without TLS. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  // Inside a dialog, because the focus cannot leave it.
  (document.querySelector("[role=dialog],[role=alertdialog]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Whether the text was just copied, and a function that copies it. */
function useCopy(text: string) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), DISPLAY_TIME);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => copyText(text).then(() => setCopied(true));
  return { isCopied, copy };
}

type Props = {
  /** The text to copy. */
  text: string;
  /** The object of "Copy …". */
  what: string;
  size?: "small" | "normal";
};

/** An icon button that copies text and turns into a tick. */
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

/** The same with text, if copying is the main action. */
export function CopyTextButton({ text, what, isMain = false }: Props & { isMain?: boolean }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <Button kind={isMain ? "main" : "plain"} icon={isCopied ? Check : Copy} onPress={copy}>
      {isCopied ? t.copied : t.copy(what)}
    </Button>
  );
}
