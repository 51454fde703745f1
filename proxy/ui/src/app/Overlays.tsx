import { Code, Keyboard, Search, Undo2 } from "lucide-react";
import { lazy, Suspense, useEffect } from "react";
import { messages } from "../language";
import { useShortcutListener, useShortcuts } from "../navigation/shortcuts";
import { undoLast, useCanUndo } from "../navigation/undo";
import { show, useOverlay } from "./overlay";
import { ShortcutHelp } from "./ShortcutHelp";

const loadPalette = () => import("./palette/Palette");
const Palette = lazy(loadPalette);
const CodeDialog = lazy(() => import("../reference/CodeDialog"));

const t = messages.frame;
const TEST_POLL = 2_000;
const close = () => show(null);

/** The overlays of a project's pages, each opened by a shortcut. */
export function Overlays({ project }: { project: string }) {
  const overlay = useOverlay();
  const canUndo = useCanUndo();
  useShortcutListener();
  useShortcuts(
    [
      { keys: "mod+k", label: t.palette, icon: Search, run: () => show("palette") },
      { keys: ".", label: t.useFromCode, icon: Code, run: () => show("code") },
      ...(canUndo ? [{ keys: "mod+z", label: t.undo, icon: Undo2, run: undoLast }] : []),
      { keys: "?", label: t.shortcuts, icon: Keyboard, run: () => show("shortcuts") },
    ],
    "everywhere",
  );
  useEffect(() => close, []);
  // Loaded early, so the palette opens immediately the first time.
  useEffect(() => {
    const timer = setTimeout(loadPalette, TEST_POLL);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Suspense fallback={null}>
      {overlay === "palette" && <Palette project={project} onClose={close} />}
      {overlay === "shortcuts" && <ShortcutHelp onClose={close} />}
      {overlay === "code" && <CodeDialog onClose={close} />}
    </Suspense>
  );
}
