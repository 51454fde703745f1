import { useState } from "react";
import { Dialog } from "../components/Dialog";
import { words } from "../language";
import { useActiveShortcuts, useShortcutListener, useShortcuts } from "../navigation/shortcuts";
import style from "./ShortcutHelp.module.css";

const t = words.frame;

/** The list of shortcuts behind `?`, and the listener that runs them. */
export function ShortcutHelp() {
  const [isOpen, setOpen] = useState(false);
  useShortcutListener();
  useShortcuts([{ keys: "?", label: t.shortcuts, run: () => setOpen(true) }], "everywhere");
  const shortcuts = useActiveShortcuts();
  return (
    <Dialog title={t.shortcuts} isOpen={isOpen} onClose={() => setOpen(false)}>
      <dl className={style.list}>
        {shortcuts.map(({ keys, label }) => (
          <div key={keys + label}>
            <dt>
              <kbd>{keys.replace("mod+", "Ctrl/⌘ ")}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
