import { Check, ChevronsUpDown } from "lucide-react";
import {
  Autocomplete,
  Button,
  Input,
  ListBox,
  ListBoxItem,
  ListLayout,
  Popover,
  SearchField,
  Select,
  SelectValue,
  Virtualizer,
} from "react-aria-components";
import { useLocation } from "wouter";
import { useProjects } from "../api/queries";
import select from "../components/Select.module.css";
import { words } from "../language";
import { addresses } from "../navigation/addresses";
import style from "./ProjectSwitch.module.css";
import { matches } from "./palette/match";

const t = words.frame;
/** As many projects need no field to find one. */
const MOST_WITHOUT_FILTER = 8;
const ROW = 44;

/** The project that is open, and the way to another; with a field to find one where there are many. */
export function ProjectSwitch({ project }: { project: string }) {
  const projects = useProjects();
  const [, navigate] = useLocation();
  const all = projects.data ?? [{ id: project, slug: project, name: project }];
  const hasFilter = all.length > MOST_WITHOUT_FILTER;
  const list = (
    <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: ROW, padding: 4 }}>
      <ListBox
        items={all}
        className={style.list ?? ""}
        renderEmptyState={() => <p className={style.none}>{t.nothingFound}</p>}
      >
        {({ slug, name }) => (
          <ListBoxItem id={slug} textValue={`${name} ${slug}`} className={`${select.item} ${style.row}`}>
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
  );
  return (
    <Select
      className={style.project ?? ""}
      aria-label={t.project}
      value={project}
      onChange={(slug) => slug !== null && slug !== project && navigate(addresses.project(String(slug)))}
    >
      <Button className={style.button ?? ""}>
        <SelectValue className={style.value ?? ""}>
          <span dir="auto">{all.find(({ slug }) => slug === project)?.name ?? project}</span>
        </SelectValue>
        <ChevronsUpDown size={14} aria-hidden />
      </Button>
      <Popover className={`${select.popover} ${style.popover}`}>
        {hasFilter ? (
          <Autocomplete filter={(text, query) => matches(query, [text])}>
            <SearchField className={style.search ?? ""} aria-label={t.findProject} autoFocus>
              <Input placeholder={t.findProjectOf(all.length)} />
            </SearchField>
            {list}
          </Autocomplete>
        ) : (
          list
        )}
      </Popover>
    </Select>
  );
}
