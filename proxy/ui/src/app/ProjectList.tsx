import { Check } from "lucide-react";
import type { KeyboardEvent } from "react";
import {
  Autocomplete,
  Input,
  ListBox,
  ListBoxItem,
  ListLayout,
  SearchField,
  Virtualizer,
} from "react-aria-components";
import type { Project } from "../api/queries";
import { readEnterPress } from "../components/combobox";
import select from "../components/Select.module.css";
import { messages } from "../language";
import style from "./ProjectSwitch.module.css";
import { matches } from "./palette/match";

const t = messages.frame;
const ROW = 44;

type Named = Pick<Project, "slug" | "name">;

/** The texts by which a project is found. */
const textOf = ({ name, slug }: Named): string => `${name} ${slug}`;

type Props = {
  projects: readonly Named[];
  selected: string;
  onChoose: (slug: string) => void;
};

/** A long list of projects with a search field. */
export default function ProjectList({ projects, selected, onChoose }: Props) {
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    const enter = readEnterPress(event);
    if (enter === null) return;
    const found = projects.filter((it) => matches(enter.text, [textOf(it)]));
    const chosen =
      found.find(({ slug }) => slug === enter.active) ?? (enter.text === "" ? undefined : found[0]);
    if (chosen) onChoose(chosen.slug);
  };
  return (
    <Autocomplete filter={(text, query) => matches(query, [text])}>
      <SearchField className={style.search ?? ""} aria-label={t.findProject} autoFocus>
        <Input placeholder={t.findProjectOf(projects.length)} onKeyDownCapture={press} />
      </SearchField>
      <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: ROW, padding: 4 }}>
        <ListBox
          aria-label={t.project}
          className={style.list ?? ""}
          items={projects}
          selectionMode="single"
          selectedKeys={[selected]}
          onSelectionChange={(slugs) => {
            const [slug] = slugs === "all" ? [] : slugs;
            onChoose(slug === undefined ? selected : String(slug));
          }}
          renderEmptyState={() => <p className={style.none}>{t.nothingFound}</p>}
        >
          {({ slug, name }) => (
            <ListBoxItem
              id={slug}
              textValue={textOf({ slug, name })}
              className={`${select.item} ${style.row}`}
            >
              {({ isSelected }) => (
                <>
                  <span className={style.name}>
                    <span dir="auto">{name}</span>
                    <small>{slug}</small>
                  </span>
                  {isSelected && <Check size={14} aria-hidden />}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Virtualizer>
    </Autocomplete>
  );
}
