import { Settings2 } from "lucide-react";
import { useMe } from "../api/queries";
import { IconButton } from "../components/Button";
import { Menu } from "../components/Menu";
import { messages } from "../language";
import { useSession } from "../session/session";
import { type Density, setAppearance, type Theme, useAppearance } from "./appearance";
import style from "./Rail.module.css";
import { endSession } from "./session";

const t = messages.frame;

export const themes = (Object.keys(t.themes) as Theme[]).map((id) => ({ id, label: t.themes[id] }));
export const densities = (Object.keys(t.densities) as Density[]).map((id) => ({
  id,
  label: t.densities[id],
}));

/** The signed-in user, and the appearance that this browser remembers. */
export function Caller({ project, isFolded }: { project: string; isFolded: boolean }) {
  const me = useMe(project);
  const { theme, density } = useAppearance();
  const { role } = useSession();
  const name = role ?? me.data?.role;
  return (
    <>
      {!isFolded && me.data && (
        <div className={style.who}>
          <strong dir="auto">{me.data.key?.label ?? t.noLabel}</strong>
          <span>{me.data.admin ? t.administrator : t.asRole(name ?? "")}</span>
        </div>
      )}
      <Menu
        label={t.settings}
        actions={[
          {
            id: "theme",
            title: t.theme,
            options: themes,
            value: theme,
            onChange: (id) => setAppearance({ theme: id as Theme }),
          },
          "separator",
          {
            id: "density",
            title: t.density,
            options: densities,
            value: density,
            onChange: (id) => setAppearance({ density: id as Density }),
          },
          "separator",
          { id: "out", label: t.signOut, run: endSession },
        ]}
      >
        <IconButton icon={Settings2} label={t.settings} />
      </Menu>
    </>
  );
}
