import type { LucideIcon } from "lucide-react";
import {
  Activity,
  BookOpen,
  CircleHelp,
  FileUp,
  Inbox,
  KeyRound,
  PanelLeftClose,
  PanelLeftOpen,
  Search,
  Webhook,
} from "lucide-react";
import { useState } from "react";
import { Button } from "react-aria-components";
import { Link, useLocation } from "wouter";
import { useMe } from "../api/queries";
import { IconButton } from "../components/Button";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import { Caller } from "./Caller";
import { Keys } from "./Keys";
import { show } from "./overlay";
import { ProjectSwitch } from "./ProjectSwitch";
import style from "./Rail.module.css";
import { RailTemplates } from "./RailTemplates";

const t = messages.frame;
const COLLAPSED_KEY = "keyed.rail.folded";

/** The navigation of a project: the pages that this key can open, and the signed-in user. */
export function Rail({ project, isSheet = false }: { project: string; isSheet?: boolean }) {
  const [isFolded, setFolded] = useState(() => !isSheet && localStorage.getItem(COLLAPSED_KEY) === "yes");
  const me = useMe(project);
  const fold = () => {
    localStorage.setItem(COLLAPSED_KEY, isFolded ? "no" : "yes");
    setFolded(!isFolded);
  };
  const pages: [LucideIcon, string, string][] = [
    [FileUp, addresses.files(project), t.files],
    ...(me.data?.admin
      ? ([
          [Inbox, addresses.inbound(project), t.inbound],
          [Webhook, addresses.webhooks(project), t.webhooks],
          [KeyRound, addresses.access(project), t.access],
          [Activity, addresses.operations(project), t.operations],
        ] as [LucideIcon, string, string][])
      : []),
    [BookOpen, addresses.reference(), t.reference],
  ];
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
      <div className={style.find}>
        {isFolded ? (
          <IconButton icon={Search} label={t.palette} onPress={() => show("palette")} />
        ) : (
          <Button className={style.palette ?? ""} onPress={() => show("palette")}>
            <Search size={14} aria-hidden />
            <span className={style.label}>{t.goTo}</span>
            <Keys keys="mod+k" />
          </Button>
        )}
      </div>
      <div className={style.scroll}>
        <RailTemplates project={project} mayDefine={me.data?.admin ?? false} isFolded={isFolded} />
        <ul className={style.items}>
          {pages.map(([icon, to, label]) => (
            <PageItem key={to} icon={icon} to={to} label={label} isFolded={isFolded} />
          ))}
        </ul>
      </div>
      <div className={`${style.foot} ${isFolded ? style.column : ""}`}>
        <Caller project={project} isFolded={isFolded} />
        <IconButton icon={CircleHelp} label={t.shortcuts} onPress={() => show("shortcuts")} />
      </div>
    </div>
  );
}

type PageProps = { icon: LucideIcon; to: string; label: string; isFolded: boolean };

function PageItem({ icon: Icon, to, label, isFolded }: PageProps) {
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
        <span className={isFolded ? "visually-hidden" : style.label}>{label}</span>
      </Link>
    </li>
  );
}
