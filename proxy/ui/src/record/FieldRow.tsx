import { Check, Pencil, X } from "lucide-react";
import { type FocusEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useAttempt } from "../api/attempt";
import { OFFLINE } from "../api/client";
import type { Json } from "../api/json";
import type { Attribute, RecordBody } from "../api/queries";
import { isReachable, useIsReachable } from "../api/reachability";
import { Button, IconButton } from "../components/Button";
import { showErrorToast } from "../components/toast";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import { withElements } from "../value/editing";
import { isSame } from "../value/exact";
import { isEmptyValue } from "../value/text";
import { isLong, Value } from "../value/Value";
import { ValueEditor } from "../value/ValueEditor";
import { Conflict } from "./Conflict";
import style from "./Details.module.css";
import { editNext, isFocusWithin, pendingElement, pressedIn } from "./editKeys";
import { errorOf } from "./errors";
import { fieldOf } from "./merge";
import { NumberMenu } from "./NumberMenu";
import { saveWithUndo } from "./save";
import { addTo, dismissChange } from "./store";

const t = messages.record;

type Props = {
  project: string;
  record: RecordBody;
  attribute: Attribute;
  mayEdit: boolean;
  /** Whether another user changed it and the notice has not been dismissed. */
  isChanged: boolean;
};

/** The edit: the initial value and the draft. */
type Edit = { start: Json; draft: Json | undefined; error?: string; isSaving?: boolean };

/** The error of a value, unless it was a network error and the service is reachable again. */
const currentError = (error: string | undefined) => (error === OFFLINE && isReachable() ? undefined : error);

/** One attribute: a value that becomes an editor on a click. Each field is saved separately. */
export function FieldRow({ project, record, attribute, mayEdit, isChanged }: Props) {
  const { slug, type } = attribute;
  const current = fieldOf(record, slug);
  const [edit, setEdit] = useState<Edit | null>(null);
  const [isSaved, setSaved] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const row = useRef<HTMLDivElement>(null);
  const attempt = useAttempt();
  const latest = useRef(edit);
  latest.current = edit;
  const isReachable = useIsReachable();
  const isSeries = type === "metric";
  const label = attributeLabel(attribute);
  const isConflicting = edit !== null && !isSeries && !isSame(current, edit.start);

  // The edited field shows the conflict itself.
  useEffect(() => {
    if (isConflicting && isChanged) dismissChange(record.id, slug);
  }, [isConflicting, isChanged, record.id, slug]);

  // When the editor is closed with the keyboard, the focus returns to the value.
  const returns = useRef(false);
  useEffect(() => {
    if (edit !== null || !returns.current) return;
    returns.current = false;
    // Unless another element has taken the focus.
    if (document.activeElement === document.body)
      row.current?.querySelector<HTMLElement>("[data-edit]")?.focus();
  }, [edit]);
  const begin = () => {
    setSaved(false);
    isLeft.current = false;
    attempt.renew();
    setEdit({ start: current, draft: isSeries ? undefined : current });
  };
  const cancelEdit = () => {
    returns.current = true;
    setEdit(null);
  };
  const save = async (start: Json, draft: Json | undefined) => {
    if (draft === undefined || (!isSeries && isSame(draft, start))) return setEdit(null);
    // Set before the next render, so that no second save starts during this one.
    latest.current = { start, draft, isSaving: true };
    setEdit(latest.current);
    try {
      const isWritten = isSeries
        ? await addTo(record.id, slug, draft, attempt)
        : await saveWithUndo(project, record.id, { slug, label }, start, draft);
      // Text that was typed during the request is still being edited.
      const now = latest.current;
      const isTypedOn = now !== null && !isSame(now.draft ?? null, draft);
      isLeft.current = isWritten && !isTypedOn;
      if (isTypedOn && isWritten && isGone.current) return save(draft, now.draft);
      setSaved(isWritten);
      if (isTypedOn) setEdit({ start: isWritten ? draft : start, draft: now.draft });
      else setEdit(isWritten ? null : { start, draft });
      if (isGone.current && !isWritten) showErrorToast(t.notSaved(label, t.changedElse));
    } catch (error) {
      if (isGone.current) showErrorToast(t.notSaved(label, errorOf(error, slug)));
      isLeft.current = false;
      setEdit((now) => ({ start, draft: now ? now.draft : draft, error: errorOf(error, slug) }));
    }
  };
  // If the record is closed during an edit, the edit is saved as when the field loses the focus.
  const isGone = useRef(false);
  const close = useRef(() => {});
  close.current = () => {
    isGone.current = true;
    const now = latest.current;
    if (!now || now.isSaving || currentError(now.error) !== undefined || isLeft.current) return;
    // No blur event has fired, so an incomplete list element is still only in its field.
    const element = pendingElement(row.current);
    void save(now.start, element === "" ? now.draft : withElements(now.draft, [element]));
  };
  // A layout effect runs its cleanup while the fields still exist.
  useLayoutEffect(() => {
    isGone.current = false;
    return () => close.current();
  }, []);
  const saveAndReturn = (start: Json, draft: Json | undefined) => {
    returns.current = true;
    isLeft.current = true;
    return save(start, draft);
  };
  // An editor may commit text on blur. The draft has it only after the next render.
  const saveLatest = () => {
    const now = latest.current;
    if (now && !now.isSaving) void save(now.start, now.draft);
  };
  // The save itself closes the editor. The resulting blur does not cause a second save.
  const isLeft = useRef(false);
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const pressed = edit && pressedIn(event);
    if (!pressed) return;
    event.preventDefault();
    event.stopPropagation();
    if (pressed === "cancel") return cancelEdit();
    if (isConflicting || edit.isSaving) return;
    const element = row.current;
    returns.current = pressed === "save";
    isLeft.current = true;
    // An invalid date, such as February 31, is corrected when its field loses the focus. Text in a list editor becomes an
    // element then, unless Enter has already added it.
    if (type === "date" || type === "datetime" || (type === "list" && pressed !== "save"))
      (document.activeElement as HTMLElement | null)?.blur();
    setTimeout(saveLatest);
    if (pressed !== "save" && element) editNext(element, pressed === "next" ? 1 : -1);
  };
  const blur = (event: FocusEvent<HTMLElement>) => {
    const element = event.currentTarget;
    setTimeout(() => {
      if (isFocusWithin(element) || isLeft.current || isGone.current) return;
      if (isConflicting || currentError(latest.current?.error) !== undefined) return;
      saveLatest();
    });
  };

  if (edit) {
    return (
      <div ref={row} className={style.row} data-field={slug}>
        <span className={style.label}>{label}</span>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it handles events that bubble up from the editor. */}
        <div
          className={style.editing}
          onKeyDownCapture={press}
          // Escape closes an overlay of the editor, and not the record.
          onKeyDown={(event) => event.key === "Escape" && event.stopPropagation()}
          onBlur={blur}
        >
          <div className={style.editor}>
            <div className={style.grow}>
              <ValueEditor
                project={project}
                attribute={attribute}
                owner={record.template_slug}
                value={edit.draft}
                onChange={(draft) => {
                  attempt.renew();
                  setEdit((now) => now && { start: now.start, draft, isSaving: now.isSaving ?? false });
                }}
                isLabelHidden
                error={isReachable ? currentError(edit.error) : edit.error}
                autoFocus
              />
            </div>
            <IconButton
              icon={Check}
              label={t.save}
              isDisabled={isConflicting}
              isPending={edit.isSaving ?? false}
              onPress={() => saveAndReturn(edit.start, edit.draft)}
            />
            <IconButton icon={X} label={t.cancelEdit} onPress={cancelEdit} />
          </div>
          {isConflicting ? (
            <Conflict
              project={project}
              attribute={attribute}
              record={record}
              mine={edit.draft ?? null}
              onMine={() => saveAndReturn(current, edit.draft)}
              onTheirs={cancelEdit}
            />
          ) : (
            <p className={style.hint}>{type === "string" ? t.editingText : t.editing}</p>
          )}
        </div>
      </div>
    );
  }

  const isTextLong = type === "string" && isLong(current);
  const value = (
    <Value
      project={project}
      attribute={attribute}
      value={current}
      verbose={record.attribute_values?.[slug]}
      fit="whole"
      isFolded={isTextLong && !isWhole}
    />
  );
  const isLink = type === "reference" && !isEmptyValue(current);
  const editLabel = isSeries ? `${t.addPoint}: ${label}` : t.edit(label);
  return (
    <div ref={row} className={`${style.row} ${isChanged ? style.changed : ""}`} data-field={slug}>
      <span className={style.label}>{label}</span>
      <div className={style.value}>
        <div className={style.text}>
          {!mayEdit || isLink ? (
            <div className={style.plain}>{value}</div>
          ) : (
            <div
              className={style.cell}
              role="button"
              tabIndex={0}
              data-edit
              onClick={() => window.getSelection()?.isCollapsed !== false && begin()}
              onKeyDown={(event) => {
                if (event.key !== "Enter" && event.key !== " " && event.key !== "F2") return;
                event.preventDefault();
                begin();
              }}
            >
              <span className="visually-hidden">{editLabel}: </span>
              {value}
            </div>
          )}
          {isTextLong && (
            <Button kind="quiet" onPress={() => setWhole(!isWhole)}>
              {isWhole ? messages.value.showLess : messages.value.showWhole(current.length)}
            </Button>
          )}
        </div>
        {isSaved && <Tick />}
        {mayEdit && isLink && (
          <IconButton icon={Pencil} label={editLabel} size="small" onPress={begin} data-edit />
        )}
        {mayEdit && type === "number" && (
          <NumberMenu record={record} label={label} slug={slug} onAdded={() => setSaved(true)} />
        )}
      </div>
    </div>
  );
}

/** A tick that disappears after a moment. */
export function Tick() {
  return (
    <span className={style.tick} role="status">
      <Check size={14} aria-hidden />
      <span className="visually-hidden">{t.saved}</span>
    </span>
  );
}
