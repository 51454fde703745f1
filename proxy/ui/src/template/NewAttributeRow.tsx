import { ArrowDown, ArrowUp, SlidersHorizontal, X } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import type { Template } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { Rejection, TextField } from "../components/Field";
import { Select } from "../components/Select";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { AttributeForm } from "./AttributeForm";
import { type AttributeType, type Draft, type FieldErrors, TYPES } from "./draft";
import { slugOf } from "./slug";
import style from "./template.module.css";

const t = pageMessages.template;

type Props = {
  project: string;
  templates: Template[];
  position: number;
  draft: Draft;
  setDraft: (draft: Draft) => void;
  remove: () => void;
  /** Swaps the row with the one above or below; null if there is none. */
  moveUp: (() => void) | null;
  moveDown: (() => void) | null;
  errors: FieldErrors;
};

/** One row per attribute of a new template. A button opens its other settings. */
export function NewAttributeRow({ project, templates, position, draft, setDraft, errors, ...props }: Props) {
  const { remove, moveUp, moveDown } = props;
  const [isOpen, setOpen] = useState(false);
  const name = draft.label || draft.slug || t.unnamed;
  const set = (more: Partial<Draft>) => setDraft({ ...draft, ...more });
  const follows = draft.slug === slugOf(draft.label);
  const press = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    event.stopPropagation();
    (event.key === "ArrowUp" ? moveUp : moveDown)?.();
  };
  const hidden = errors.options ?? errors.default ?? errors.required;
  return (
    <div>
      {/* Alt and an arrow key move the row from any of its fields. */}
      <div className={style.row} onKeyDownCapture={press}>
        <TextField
          label={t.labelOf(position)}
          isLabelHidden
          value={draft.label}
          onChange={(label) => set(follows ? { label, slug: slugOf(label) } : { label })}
          error={errors.label}
          autoFocus={draft.label === "" && position > 1}
        />
        <TextField
          label={t.slugOf(position)}
          isLabelHidden
          value={draft.slug}
          onChange={(slug) => set({ slug })}
          error={errors.slug}
          isCode
        />
        <div className={style.boxes}>
          <Select<AttributeType>
            label={t.typeOf(position)}
            isLabelHidden
            choices={TYPES.map((id) => ({ id, label: t.types[id], hint: t.typeHints[id] }))}
            value={draft.type}
            onChange={(type) => set({ type, default: null })}
            error={errors.type}
          />
          {draft.type === "reference" && (
            <Select
              label={t.target}
              isLabelHidden
              choices={templates.map((it) => ({ id: it.slug, label: attributeLabel(it) }))}
              value={draft.target}
              onChange={(target) => set({ target })}
              placeholder={t.target}
              error={errors.target || undefined}
            />
          )}
        </div>
        <div className={style.ends}>
          <IconButton
            icon={ArrowUp}
            label={t.moveUp(name)}
            isDisabled={moveUp === null}
            onPress={() => moveUp?.()}
          />
          <IconButton
            icon={ArrowDown}
            label={t.moveDown(name)}
            isDisabled={moveDown === null}
            onPress={() => moveDown?.()}
          />
          <IconButton icon={SlidersHorizontal} label={t.detailsOf(name)} onPress={() => setOpen(true)} />
          <IconButton icon={X} label={t.remove(name)} onPress={remove} />
        </div>
      </div>
      <p className={style.quiet}>
        {[draft.required && t.required, draft.indexed && t.indexed, draft.default !== null && t.default]
          .filter(Boolean)
          .join(", ")}
      </p>
      {hidden && <Rejection>{hidden}</Rejection>}
      {isOpen && (
        <Dialog
          title={t.detailsOf(name)}
          isOpen
          width="wide"
          onClose={() => setOpen(false)}
          actions={
            <Button kind="main" onPress={() => setOpen(false)}>
              {t.done}
            </Button>
          }
        >
          <AttributeForm {...{ project, templates, draft, setDraft, errors }} isNew />
        </Dialog>
      )}
    </div>
  );
}
