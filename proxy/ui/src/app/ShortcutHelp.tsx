import { Dialog } from "../components/Dialog";
import { messages } from "../language";
import { type ActiveShortcut, SCOPES, useActiveShortcuts } from "../navigation/shortcuts";
import { Keys } from "./Keys";
import style from "./ShortcutHelp.module.css";

const t = messages.frame;

/** The active shortcuts, innermost scope first. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const active = useActiveShortcuts();
  const holds = (it: ActiveShortcut) => active.findLast((other) => other.keys === it.keys) === it;
  const groups = SCOPES.toReversed().map((scope) => ({
    scope,
    shortcuts: active.filter((it) => it.scope === scope && holds(it)),
  }));
  return (
    <Dialog title={t.shortcuts} isOpen onClose={onClose}>
      {groups
        .filter(({ shortcuts }) => shortcuts.length > 0)
        .map(({ scope, shortcuts }) => (
          <section key={scope} className={style.group} aria-label={t.shortcutScopes[scope]}>
            <h3>{t.shortcutScopes[scope]}</h3>
            <dl>
              {shortcuts.map(({ keys, label }) => (
                <div key={keys}>
                  <dt>
                    <Keys keys={keys} />
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
    </Dialog>
  );
}
