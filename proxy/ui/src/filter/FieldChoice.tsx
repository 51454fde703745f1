import {
  Calendar,
  CheckSquare,
  Hash,
  KeyRound,
  Layers,
  Link2,
  ListFilter,
  type LucideIcon,
  Tags,
  Type,
} from "lucide-react";
import { type KeyboardEvent, useEffect } from "react";
import {
  Autocomplete,
  Collection,
  Header,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  TextField,
  useFilter,
} from "react-aria-components";
import { COMBOBOX, readEnterPress } from "../components/combobox";
import { messages } from "../language";
import type { Field, Fields } from "./fields";
import style from "./operand.module.css";
import type { Kind } from "./operators";

const t = messages.filter;

const ICONS: Record<Kind, LucideIcon> = {
  string: Type,
  number: Hash,
  list: Tags,
  date: Calendar,
  datetime: Calendar,
  reference: Link2,
  boolean: CheckSquare,
  external_key: KeyRound,
  id: KeyRound,
  template: Layers,
};

const GROUP = "(group)";

type Props = {
  fields: Fields;
  onChoose: (field: Field) => void;
  /** A group that can be chosen instead of an attribute. */
  group?: { label: string; hint?: string; choose: () => void };
};

/** Chooses the attribute of a condition by typing. */
export function FieldChoice({ fields, onChoose, group }: Props) {
  useEffect(() => {
    // Preloads the large calendar, which the user may need next.
    import("../value/DateEditor");
  }, []);
  const { contains } = useFilter({ sensitivity: "base" });
  const { own, standard, behind } = fields.list();
  const sections = [
    { id: "own", title: t.ownFields, fields: own },
    { id: "standard", title: t.standardFields, fields: standard },
    { id: "behind", title: t.fieldsBehind, fields: behind },
  ].filter((it) => it.fields.length > 0);
  const choose = (path: string) => {
    if (path === GROUP) return group?.choose();
    const field = fields.find(path);
    if (field) onChoose(field);
  };
  // Fast typists press Enter before the list is updated. Its old entries must not be chosen.
  const press = (event: KeyboardEvent) => {
    const enter = readEnterPress(event);
    if (enter === null) return;
    const entries = [
      ...(group ? [{ path: GROUP, text: group.label }] : []),
      ...sections.flatMap((section) => section.fields.map((it) => ({ path: it.path, text: textOf(it) }))),
    ];
    const meant = entries.filter((it) => contains(it.text, enter.text));
    const chosen =
      meant.find(({ path }) => path === enter.active) ?? (enter.text === "" ? undefined : meant[0]);
    if (chosen) choose(chosen.path);
  };
  return (
    <div className={style.fields} onKeyDownCapture={press}>
      <Autocomplete filter={contains}>
        <TextField className={style.search ?? ""} autoFocus>
          <Label className="visually-hidden">{t.searchFields}</Label>
          <Input className={style.input ?? ""} {...COMBOBOX} placeholder={t.searchFields} />
        </TextField>
        <ListBox
          aria-label={t.field}
          className={`${style.list} ${style.tall}`}
          onAction={(path) => choose(String(path))}
          renderEmptyState={() => <p className={style.note}>{t.noField}</p>}
        >
          {group && (
            <ListBoxItem id={GROUP} textValue={group.label} className={style.item ?? ""}>
              <span className={style.mark}>
                <ListFilter size={14} aria-hidden />
              </span>
              <span className={style.name}>{group.label}</span>
              {group.hint && <span className={style.hint}>{group.hint}</span>}
            </ListBoxItem>
          )}
          {sections.map((section) => (
            <ListBoxSection key={section.id} id={section.id} className={style.section ?? ""}>
              <Header className={style.sectionTitle}>{section.title}</Header>
              <Collection items={section.fields}>{(field) => <FieldItem field={field} />}</Collection>
            </ListBoxSection>
          ))}
        </ListBox>
      </Autocomplete>
    </div>
  );
}

/** The texts by which an attribute is found. */
const textOf = (field: Field): string => `${field.label} ${field.path}`;

function FieldItem({ field }: { field: Field }) {
  const Icon = ICONS[field.kind];
  return (
    <ListBoxItem id={field.path} textValue={textOf(field)} className={style.item ?? ""}>
      <span className={style.mark}>
        <Icon size={14} aria-hidden />
      </span>
      <span className={style.name} dir="auto">
        {field.label}
      </span>
    </ListBoxItem>
  );
}
