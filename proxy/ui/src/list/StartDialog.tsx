import { useState } from "react";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { Select } from "../components/Select";
import { check, type Draft } from "../filter/draft";
import type { Field } from "../filter/fields";
import { Operand } from "../filter/Operand";
import { messages } from "../language";
import { textOf } from "../value/exact";
import style from "./StartDialog.module.css";
import { canStart, startFields } from "./start";
import type { ListState } from "./state";
import type { ChangeState } from "./useListState";

const t = messages.list;

type Props = {
  project: string;
  template: Template;
  state: ListState;
  change: ChangeState;
  onClose: () => void;
};

/** The service compares numbers and dates. For text, it supports only a prefix. */
const draftOf = (field: Field, start: string | null): Draft => ({
  field,
  operator: canStart(field) ? "gte" : "starts-with",
  values: start === null ? [] : [start],
});

/** Asks for the value at which the list starts. */
export default function StartDialog({ project, template, state, change, onClose }: Props) {
  const fields = startFields(template, state.isDeleted);
  const [by] = state.sort;
  const current = fields.find(({ path }) => path === by?.field);
  const first = fields.find(canStart) ?? fields[0];
  const [draft, setDraft] = useState(() => {
    const field = current ?? first;
    return field === undefined ? null : draftOf(field, current ? state.start : null);
  });
  const [isChecked, setChecked] = useState(false);
  if (draft === null) return null;
  const { field } = draft;
  const checked = check(draft);
  const done = () => {
    if ("message" in checked) return setChecked(true);
    const isDescending = by?.field === field.path && by.isDescending;
    const sort = by?.field === field.path ? state.sort : [{ field: field.path, isDescending }];
    const [value] = draft.values;
    if (canStart(field)) change({ sort, start: textOf(value ?? undefined).trim() }, true);
    else change({ sort, start: null, conditions: [...state.conditions, checked.condition] }, true);
    onClose();
  };
  return (
    <Dialog
      title={t.startTitle}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{t.cancel}</Button>
          <Button kind="main" onPress={done}>
            {canStart(field) ? t.startAction : t.startFilter}
          </Button>
        </>
      }
    >
      <form
        className={style.form}
        onSubmit={(event) => {
          event.preventDefault();
          done();
        }}
      >
        <Select
          label={t.startBy}
          choices={fields.map(({ path, label }) => ({ id: path, label }))}
          value={field.path}
          onChange={(path) => {
            const next = fields.find((it) => it.path === path);
            if (next) setDraft(draftOf(next, null));
            setChecked(false);
          }}
        />
        <Operand
          key={field.path}
          project={project}
          draft={draft}
          onChange={(values) => setDraft({ ...draft, values })}
          typed=""
          onType={() => {}}
          nameOf={() => ""}
          onEnter={done}
          error={isChecked && "message" in checked ? checked : null}
        />
        <p className={style.hint}>
          {canStart(field) ? t.startHint(field.label) : t.startTextHint(field.label)}
        </p>
      </form>
    </Dialog>
  );
}
