import { FileText, Search } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  Modal,
  ModalOverlay,
  SearchField,
} from "react-aria-components";
import { useLocation } from "wouter";
import { useMe, useProjects, useTemplates } from "../../api/queries";
import { readEnterPress } from "../../components/combobox";
import { messages } from "../../language";
import { addresses } from "../../navigation/addresses";
import { useActiveShortcuts } from "../../navigation/shortcuts";
import { useSession } from "../../session/session";
import { Keys } from "../Keys";
import { useViewsOfMany } from "../views";
import { type Entry, type Section, sectionsFor } from "./entries";
import style from "./Palette.module.css";
import { useRecordsWithKey } from "./records";

const t = messages.frame;
/** The maximum number of templates whose saved views are offered. */
const MAX_TEMPLATES = 20;

/** The command palette: pages and actions, found by typing. */
export default function Palette({ project, onClose }: { project: string; onClose: () => void }) {
  const [query, setQuery] = useState("");
  const { sections, isSearching } = useSections(project, query);

  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    // The page restores its focus first. Then the action may move it.
    requestAnimationFrame(() => requestAnimationFrame(entry.run));
  };
  const find = (id: unknown) => sections.flatMap(({ entries }) => entries).find((it) => it.id === id);
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const enter = readEnterPress(event);
    if (enter) run(find(enter.active) ?? sections[0]?.entries[0]);
  };

  return (
    <ModalOverlay
      className={style.veil ?? ""}
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Modal className={style.modal ?? ""}>
        <Dialog aria-label={t.palette} className={style.dialog ?? ""}>
          <Autocomplete inputValue={query} onInputChange={setQuery}>
            <SearchField
              aria-label={t.palettePlaceholder}
              className={style.field ?? ""}
              autoFocus
              onKeyDown={(event) => event.key === "Escape" && onClose()}
            >
              <Search size={16} aria-hidden />
              <Input
                className={style.input ?? ""}
                placeholder={t.palettePlaceholder}
                role="combobox"
                aria-expanded
                dir="auto"
                onKeyDownCapture={onKeyDown}
              />
            </SearchField>
            <ListBox
              aria-label={t.palette}
              className={style.list ?? ""}
              shouldFocusOnHover
              items={sections}
              onAction={(id) => run(find(id))}
              renderEmptyState={() => (
                <p className={style.none}>{isSearching ? t.lookingForKey : t.nothingFound}</p>
              )}
            >
              {(section) => (
                <ListBoxSection id={section.id}>
                  <Header className={style.heading ?? ""}>{t.sections[section.id]}</Header>
                  <Collection items={section.entries}>{(entry) => <Row entry={entry} />}</Collection>
                </ListBoxSection>
              )}
            </ListBox>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Row({ entry }: { entry: Entry }) {
  const { icon: Icon } = entry;
  return (
    <ListBoxItem id={entry.id} textValue={entry.label} className={style.item ?? ""}>
      <Icon size={16} aria-hidden />
      <span className={style.label} dir="auto">
        {entry.label}
      </span>
      {entry.hint && (
        <span className={style.hint} dir="auto">
          {entry.hint}
        </span>
      )}
      {entry.keys && <Keys keys={entry.keys} />}
    </ListBoxItem>
  );
}

function useSections(project: string, query: string): { sections: Section[]; isSearching: boolean } {
  const [location, navigate] = useLocation();
  const { role } = useSession();
  const me = useMe(project);
  const projects = useProjects();
  const templates = useTemplates(project).data ?? [];
  const shortcuts = useActiveShortcuts();
  const open = location.match(/\/t\/([^/]+)/)?.[1];
  const template = open === undefined ? undefined : decodeURIComponent(open);
  const openFirst = [...templates].sort((a, b) => Number(b.slug === template) - Number(a.slug === template));
  const views = useViewsOfMany(
    project,
    openFirst.slice(0, MAX_TEMPLATES).map(({ slug }) => slug),
  );
  const { records, isSearching } = useRecordsWithKey(project, openFirst, query);
  const found: Entry[] = records.map((record) => ({
    id: `record ${record.id}`,
    label: record.name === "" ? record.key : record.name,
    hint: record.template.label ?? record.template.slug,
    icon: FileText,
    run: () => navigate(addresses.record(project, record.template.slug, record.id)),
  }));
  const others = sectionsFor(query, {
    project,
    template,
    me: me.data,
    role,
    projects: projects.data ?? [],
    templates,
    views,
    shortcuts,
    navigate,
  });
  const text = query.trim();
  const [first] = openFirst;
  const search: Entry[] =
    text === "" || !first
      ? []
      : [
          {
            id: "search words",
            label: t.searchFor(text, first.label ?? first.slug),
            icon: Search,
            run: () => navigate(addresses.found(project, first.slug, text)),
          },
        ];
  const all: Section[] = [{ id: "records", entries: found }, ...others, { id: "search", entries: search }];
  return {
    sections: all.filter(({ entries }) => entries.length > 0),
    isSearching,
  };
}
