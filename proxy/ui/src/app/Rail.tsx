import type { LucideIcon } from "lucide-react";
import {
  Activity,
  BookOpen,
  FileUp,
  Inbox,
  KeyRound,
  PanelLeftClose,
  PanelLeftOpen,
  Plus,
  Settings2,
  Table2,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link, useLocation } from "wouter";
import { useMe, useProjects, useTemplates } from "../api/queries";
import { IconButton } from "../components/Button";
import { Menu } from "../components/Menu";
import { Select } from "../components/Select";
import { words } from "../language";
import { addresses } from "../navigation/addresses";
import { signOut } from "../session/session";
import { type Density, setAppearance, type Theme, useAppearance } from "./appearance";
import style from "./Rail.module.css";

const t = words.frame;
const FOLDED = "keyed.rail.folded";

/** The navigation of a project: what this key may open, and who it is. */
export function Rail({ project, isSheet = false }: { project: string; isSheet?: boolean }) {
  const [isFolded, setFolded] = useState(() => !isSheet && localStorage.getItem(FOLDED) === "yes");
  const me = useMe(project);
  const fold = () => {
    localStorage.setItem(FOLDED, isFolded ? "no" : "yes");
    setFolded(!isFolded);
  };
  return (
    <div className={`${style.rail} ${isFolded ? style.folded : ""}`}>
      <div className={style.head}>
        {!isFolded && <ProjectSwitch project={project} />}
        {!isSheet && (
          <IconButton
            icon={isFolded ? PanelLeftOpen : PanelLeftClose}
            label={isFolded ? t.unfoldNavigation : t.foldNavigation}
            onPress={fold}
          />
        )}
      </div>
      <div className={style.scroll}>
        <Templates project={project} mayDefine={me.data?.admin ?? false} isFolded={isFolded} />
        <ul className={style.items}>
          <Item icon={FileUp} to={addresses.files(project)} label={t.files} isFolded={isFolded} />
          {me.data?.admin && (
            <>
              <Item icon={Inbox} to={addresses.inbound(project)} label={t.inbound} isFolded={isFolded} />
              <Item icon={KeyRound} to={addresses.access(project)} label={t.access} isFolded={isFolded} />
              <Item
                icon={Activity}
                to={addresses.operations(project)}
                label={t.operations}
                isFolded={isFolded}
              />
            </>
          )}
          <Item icon={BookOpen} to={addresses.reference()} label={t.reference} isFolded={isFolded} />
        </ul>
      </div>
      <Caller project={project} isFolded={isFolded} />
    </div>
  );
}

function ProjectSwitch({ project }: { project: string }) {
  const projects = useProjects();
  const [, navigate] = useLocation();
  const choices = (projects.data ?? []).map(({ slug, name }) => ({ id: slug, label: name }));
  return (
    <div className={style.project}>
      <Select
        label={t.project}
        isLabelHidden
        choices={choices}
        value={project}
        onChange={(slug) => navigate(addresses.project(slug))}
      />
    </div>
  );
}

function Templates({
  project,
  mayDefine,
  isFolded,
}: {
  project: string;
  mayDefine: boolean;
  isFolded: boolean;
}) {
  const templates = useTemplates(project);
  return (
    <ul className={style.items} aria-label={t.templates}>
      {templates.data?.map(({ slug, label }) => (
        <Item
          key={slug}
          icon={Table2}
          to={addresses.list(project, slug)}
          label={label ?? slug}
          isFolded={isFolded}
        />
      ))}
      {templates.data?.length === 0 && !mayDefine && !isFolded && (
        <li className={style.note}>{t.noTemplatesToSee}</li>
      )}
      {mayDefine && (
        <Item icon={Plus} to={addresses.newTemplate(project)} label={t.newTemplate} isFolded={isFolded} />
      )}
    </ul>
  );
}

type ItemProps = { icon: LucideIcon; to: string; label: string; isFolded: boolean; after?: ReactNode };

function Item({ icon: Icon, to, label, isFolded, after }: ItemProps) {
  const [location] = useLocation();
  const isHere = location === to || location.startsWith(`${to}/`);
  return (
    <li>
      <Link
        href={to}
        className={style.item}
        aria-current={isHere ? "page" : undefined}
        title={isFolded ? label : undefined}
      >
        <Icon size={16} aria-hidden />
        <span className={isFolded ? "visually-hidden" : style.label} dir="auto">
          {label}
        </span>
        {!isFolded && after}
      </Link>
    </li>
  );
}

function Caller({ project, isFolded }: { project: string; isFolded: boolean }) {
  const me = useMe(project);
  const { theme, density } = useAppearance();
  const themes = (Object.keys(t.themes) as Theme[]).map((id) => ({
    id: `theme-${id}`,
    label: `${t.theme}: ${t.themes[id]}`,
    isDisabled: id === theme,
    run: () => setAppearance({ theme: id }),
  }));
  const densities = (Object.keys(t.densities) as Density[]).map((id) => ({
    id: `density-${id}`,
    label: `${t.density}: ${t.densities[id]}`,
    isDisabled: id === density,
    run: () => setAppearance({ density: id }),
  }));
  return (
    <div className={style.caller}>
      {!isFolded && me.data && (
        <div className={style.who}>
          <strong>{me.data.key?.label ?? t.noLabel}</strong>
          <span>{me.data.admin ? t.administrator : me.data.role}</span>
        </div>
      )}
      <Menu
        label={t.settings}
        actions={[
          ...themes,
          "separator",
          ...densities,
          "separator",
          { id: "out", label: t.signOut, run: signOut },
        ]}
      >
        <IconButton icon={Settings2} label={t.settings} />
      </Menu>
    </div>
  );
}
