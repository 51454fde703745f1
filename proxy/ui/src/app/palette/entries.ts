/** The entries of the palette. */
import type { LucideIcon } from "lucide-react";
import {
  Activity,
  ArchiveRestore,
  Bookmark,
  BookOpen,
  FileUp,
  FolderOpen,
  Inbox,
  KeyRound,
  LogOut,
  Moon,
  Plus,
  Rows3,
  Settings2,
  Table2,
  Upload,
  Webhook,
} from "lucide-react";
import type { Me, Project, Template } from "../../api/queries";
import { messages } from "../../language";
import { leftList } from "../../list/remembered";
import { addresses } from "../../navigation/addresses";
import type { ActiveShortcut } from "../../navigation/shortcuts";
import { setAppearance } from "../appearance";
import { densities, themes } from "../Caller";
import { endSession, returnToMyself } from "../session";
import { best } from "./match";

const t = messages.frame;

export type Entry = {
  id: string;
  label: string;
  hint?: string;
  icon: LucideIcon;
  /** The shortcut of the entry. */
  keys?: string;
  /** Other names that find the entry. */
  names?: readonly string[];
  run: () => void;
};

export type SectionId = keyof typeof t.sections;
export type Section = { id: SectionId; entries: Entry[] };

export type PaletteContext = {
  project: string;
  /** The open template. */
  template: string | undefined;
  me: Me | undefined;
  role: string | null;
  projects: readonly Project[];
  templates: readonly Template[];
  views: readonly { slug: string; label?: string | null; template: string }[];
  shortcuts: readonly ActiveShortcut[];
  navigate: (address: string) => void;
};

/** Entries that only open a page which lists them. */
const OWN_KEYS = ["mod+k"];

const nameOf = (template: Template) => template.label ?? template.slug;

function actions({ shortcuts }: PaletteContext): Entry[] {
  return shortcuts
    .filter((it) => !OWN_KEYS.includes(it.keys) && shortcuts.findLast(({ keys }) => keys === it.keys) === it)
    .toReversed()
    .map(({ keys, label, icon, run }) => ({ id: `do ${keys}`, label, keys, icon, run }));
}

function templates({ project, template, templates, navigate }: PaletteContext): Entry[] {
  return templates
    .filter(({ slug }) => slug !== template)
    .map((it) => ({
      id: `template ${it.slug}`,
      label: nameOf(it),
      ...(it.label && it.label !== it.slug ? { hint: it.slug } : {}),
      names: [it.slug],
      icon: Table2,
      run: () => navigate(leftList(project, it.slug)),
    }));
}

function views({ project, templates, views, navigate }: PaletteContext): Entry[] {
  return views.map((view) => {
    const of = templates.find(({ slug }) => slug === view.template);
    return {
      id: `view ${view.template} ${view.slug}`,
      label: view.label ?? view.slug,
      hint: of ? nameOf(of) : view.template,
      names: [view.slug],
      icon: Bookmark,
      run: () => navigate(addresses.view(project, view.template, view.slug)),
    };
  });
}

function pages({ project, template, templates, me, navigate }: PaletteContext): Entry[] {
  const page = (id: string, icon: LucideIcon, label: string, address: string, hint?: string): Entry => ({
    id: `page ${id}`,
    icon,
    label,
    ...(hint ? { hint } : {}),
    run: () => navigate(address),
  });
  const open = templates.find(({ slug }) => slug === template);
  return [
    ...(open
      ? [
          page("definition", Settings2, t.definition, addresses.template(project, open.slug), nameOf(open)),
          page("deleted", ArchiveRestore, t.deleted, addresses.deleted(project, open.slug), nameOf(open)),
          page("import", Upload, t.import, addresses.import(project, open.slug), nameOf(open)),
        ]
      : []),
    page("files", FileUp, t.files, addresses.files(project)),
    ...(me?.admin
      ? [
          page("inbound", Inbox, t.inbound, addresses.inbound(project)),
          page("webhooks", Webhook, t.webhooks, addresses.webhooks(project)),
          page("access", KeyRound, t.access, addresses.access(project)),
          page("operations", Activity, t.operations, addresses.operations(project)),
          page("new-template", Plus, t.newTemplate, addresses.newTemplate(project)),
        ]
      : []),
    page("reference", BookOpen, t.reference, addresses.reference()),
  ];
}

function projects({ project, projects, navigate }: PaletteContext): Entry[] {
  return projects
    .filter(({ slug }) => slug !== project)
    .map(({ slug, name }) => ({
      id: `project ${slug}`,
      label: name,
      ...(name === slug ? {} : { hint: slug }),
      names: [slug],
      icon: FolderOpen,
      run: () => navigate(addresses.project(slug)),
    }));
}

function settings({ role }: PaletteContext): Entry[] {
  return [
    ...(role === null
      ? []
      : [{ id: "see as myself", label: t.seeAsMyself, icon: KeyRound, run: returnToMyself }]),
    ...themes.map(({ id, label }) => ({
      id: `theme ${id}`,
      label: t.setTheme(label),
      icon: Moon,
      run: () => setAppearance({ theme: id }),
    })),
    ...densities.map(({ id, label }) => ({
      id: `density ${id}`,
      label: t.setDensity(label),
      icon: Rows3,
      run: () => setAppearance({ density: id }),
    })),
    { id: "sign out", label: t.signOut, icon: LogOut, run: endSession },
  ];
}

const MAKERS: [SectionId, (all: PaletteContext) => Entry[]][] = [
  ["actions", actions],
  ["templates", templates],
  ["views", views],
  ["pages", pages],
  ["projects", projects],
  ["settings", settings],
];

/** The maximum number of entries per section. Typing more narrows the list. */
const MAX_ENTRIES = 8;

/** The entries that match the query, by section, best sections first. */
export function sectionsFor(query: string, all: PaletteContext): Section[] {
  return MAKERS.map(([id, make]) => ({
    id,
    entries: best(query, make(all), ({ label, names = [] }) => [label, ...names]).slice(0, MAX_ENTRIES),
  })).filter(({ entries }) => entries.length > 0);
}
