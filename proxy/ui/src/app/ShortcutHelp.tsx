import { Dialog } from "../components/Dialog";
import { words } from "../language";
import { type ActiveShortcut, PLACES, useActiveShortcuts } from "../navigation/shortcuts";
import { Keys } from "./Keys";
import style from "./ShortcutHelp.module.css";

const t = words.frame;

/** The active shortcuts, innermost scope first. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const active = useActiveShortcuts();
  const holds = (it: ActiveShortcut) => active.findLast((other) => other.keys === it.keys) === it;
  const groups = PLACES.toReversed().map((place) => ({
    place,
    shortcuts: active.filter((it) => it.place === place && holds(it)),
  }));
  return (
    <Dialog title={t.shortcuts} isOpen onClose={onClose}>
      {groups
        .filter(({ shortcuts }) => shortcuts.length > 0)
        .map(({ place, shortcuts }) => (
          <section key={place} className={style.group} aria-label={t.shortcutPlaces[place]}>
            <h3>{t.shortcutPlaces[place]}</h3>
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
