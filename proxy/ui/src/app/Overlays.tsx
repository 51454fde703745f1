import { lazy, Suspense, useEffect } from "react";
import { words } from "../language";
import { useShortcutListener, useShortcuts } from "../navigation/shortcuts";
import { show, useOverlay } from "./overlay";
import { ShortcutHelp } from "./ShortcutHelp";

const Palette = lazy(() => import("./palette/Palette"));
const CodeDialog = lazy(() => import("../reference/CodeDialog"));

const t = words.frame;
const close = () => show(null);

/** What floats above the pages of a project, each behind its shortcut. */
export function Overlays({ project }: { project: string }) {
  const overlay = useOverlay();
  useShortcutListener();
  useShortcuts(
    [
      { keys: "mod+k", label: t.palette, run: () => show("palette") },
      { keys: ".", label: t.useFromCode, run: () => show("code") },
      { keys: "?", label: t.shortcuts, run: () => show("shortcuts") },
    ],
    "everywhere",
  );
  useEffect(() => close, []);
  return (
    <Suspense fallback={null}>
      {overlay === "palette" && <Palette project={project} onClose={close} />}
      {overlay === "shortcuts" && <ShortcutHelp onClose={close} />}
      {overlay === "code" && <CodeDialog onClose={close} />}
    </Suspense>
  );
}
