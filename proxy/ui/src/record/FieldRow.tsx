import { Check, Pencil, X } from "lucide-react";
import { type FocusEvent, type KeyboardEvent, useRef, useState } from "react";
import type { Json } from "../api/json";
import type { Attribute, RecordBody } from "../api/queries";
import { IconButton } from "../components/Button";
import { attributeLabel } from "../format/label";
import { words } from "../language";
import { isSame } from "../value/exact";
import { isEmptyValue, valueText } from "../value/text";
import { Value } from "../value/Value";
import { ValueEditor } from "../value/ValueEditor";
import { Contradiction } from "./Contradiction";
import style from "./Details.module.css";
import { editNext, pressedIn, staysIn } from "./editKeys";
import { faultOf } from "./faults";
import { fieldOf } from "./merge";
import { NumberMenu } from "./NumberMenu";
import { addTo, saveField } from "./store";

const t = words.record;

type Props = {
  project: string;
  record: RecordBody;
  attribute: Attribute;
  mayEdit: boolean;
  /** Whether others changed it since the reader last looked. */
  isChanged: boolean;
};

/** What is being edited: the value at the beginning, and what it is to become. */
type Edit = { start: Json; draft: Json | undefined; error?: string; isSaving?: boolean };

/** One attribute: read until it is clicked, then edited in place and saved for itself. */
export function FieldRow({ project, record, attribute, mayEdit, isChanged }: Props) {
  const { slug, type } = attribute;
  const current = fieldOf(record, slug);
  const [edit, setEdit] = useState<Edit | null>(null);
  const [isSaved, setSaved] = useState(false);
  const row = useRef<HTMLDivElement>(null);
  const isSeries = type === "metric";
  const label = attributeLabel(attribute);
  const isContradicted = edit !== null && !isSeries && !isSame(current, edit.start);

  const focusValue = () => setTimeout(() => row.current?.querySelector<HTMLElement>("[data-edit]")?.focus());
  const begin = () => {
    setSaved(false);
    setEdit({ start: current, draft: isSeries ? undefined : current });
  };
  const giveBack = () => {
    setEdit(null);
    focusValue();
  };
  /** `returns`: the focus returns to the value, as after Enter, unless something else took it meanwhile. */
  const save = async (start: Json, draft: Json | undefined, returns = false) => {
    const end = () => {
      setEdit(null);
      if (returns) focusValue();
    };
    if (draft === undefined || (!isSeries && isSame(draft, start))) return end();
    setEdit({ start, draft, isSaving: true });
    try {
      const change = { attributes: { [slug]: draft } } as Parameters<typeof saveField>[4];
      const isWritten = isSeries
        ? await addTo(project, record.id, slug, draft).then(() => true)
        : await saveField(project, record.id, slug, start, change);
      if (isWritten) end();
      else setEdit({ start, draft });
      setSaved(isWritten);
    } catch (error) {
      setEdit({ start, draft, error: faultOf(error, slug) });
    }
  };
  const add = async (amount: Json) => {
    await addTo(project, record.id, slug, { $inc: amount });
    setSaved(true);
  };

  const press = (event: KeyboardEvent<HTMLElement>) => {
    const pressed = edit && pressedIn(event);
    if (!pressed) return;
    event.preventDefault();
    event.stopPropagation();
    if (pressed === "giveBack") return giveBack();
    if (isContradicted || edit.isSaving) return;
    const element = row.current;
    void save(edit.start, edit.draft, pressed === "save");
    if (pressed !== "save" && element) editNext(element, pressed === "next" ? 1 : -1);
  };
  const leave = (event: FocusEvent<HTMLElement>) => {
    const element = event.currentTarget;
    setTimeout(() => {
      if (staysIn(element) || !edit || isContradicted || edit.isSaving || edit.error !== undefined) return;
      void save(edit.start, edit.draft);
    });
  };

  if (edit) {
    return (
      <div ref={row} className={style.row} data-field={slug}>
        <span className={style.label}>{label}</span>
        <div className={style.editing} onKeyDownCapture={press} onBlur={leave}>
          <div className={style.editor}>
            <div className={style.grow}>
              <ValueEditor
                project={project}
                attribute={attribute}
                value={edit.draft}
                onChange={(draft) => setEdit({ start: edit.start, draft })}
                isLabelHidden
                error={edit.error}
                autoFocus
              />
            </div>
            <IconButton
              icon={Check}
              label={t.save}
              isDisabled={isContradicted}
              isPending={edit.isSaving ?? false}
              onPress={() => save(edit.start, edit.draft, true)}
            />
            <IconButton icon={X} label={t.giveBack} onPress={giveBack} />
          </div>
          {isContradicted ? (
            <Contradiction
              project={project}
              attribute={attribute}
              record={record}
              mine={edit.draft ?? null}
              onMine={() => save(current, edit.draft, true)}
              onTheirs={giveBack}
            />
          ) : (
            <p className={style.hint}>{type === "string" ? t.editingText : t.editing}</p>
          )}
        </div>
      </div>
    );
  }

  const value = (
    <Value
      project={project}
      attribute={attribute}
      value={current}
      verbose={record.attribute_values?.[slug]}
      fit="whole"
    />
  );
  const isLink = type === "reference" && !isEmptyValue(current);
  const editLabel = isSeries ? `${t.addPoint}: ${label}` : t.edit(label);
  return (
    <div ref={row} className={`${style.row} ${isChanged ? style.changed : ""}`} data-field={slug}>
      <span className={style.label}>{label}</span>
      <div className={style.value}>
        {!mayEdit || isLink ? (
          <div className={style.plain}>{value}</div>
        ) : (
          <div
            className={style.cell}
            role="button"
            tabIndex={0}
            data-edit
            aria-label={`${editLabel}: ${valueText(attribute, current, record.attribute_values?.[slug])}`}
            onClick={() => window.getSelection()?.isCollapsed !== false && begin()}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== " " && event.key !== "F2") return;
              event.preventDefault();
              begin();
            }}
          >
            {value}
          </div>
        )}
        {isSaved && <Tick />}
        {mayEdit && isLink && (
          <IconButton icon={Pencil} label={editLabel} size="small" onPress={begin} data-edit />
        )}
        {mayEdit && type === "number" && <NumberMenu label={label} onAdd={add} slug={slug} />}
      </div>
    </div>
  );
}

/** A quiet tick that goes by itself. */
export function Tick() {
  return (
    <span className={style.tick} role="status">
      <Check size={14} aria-hidden />
      <span className="visually-hidden">{t.saved}</span>
    </span>
  );
}
