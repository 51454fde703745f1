import { useState } from "react";
import { RequestError } from "../api/problem";
import type { Attribute, Template } from "../api/queries";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { Failure } from "../components/Notice";
import { sayDone } from "../components/toast";
import { attributeLabel } from "../format/label";
import { pageWords } from "../language/pages";
import { AttributeForm } from "./AttributeForm";
import {
  changeOf,
  type Draft,
  draftOf,
  EMPTY,
  type Faults,
  faultsOf,
  newAttribute,
  othersOf,
  refusals,
} from "./draft";
import { Effects } from "./Effects";
import { effectsOf, viewsWith } from "./effects";
import { changeTemplate, useCount, useViews } from "./useDefinition";

const t = pageWords.template;

type Props = {
  project: string;
  template: Template;
  templates: Template[];
  /** Null for a new one. */
  attribute: Attribute | null;
  onClose: () => void;
};

/** Adds or changes one attribute, and says beforehand what that does. */
export function AttributeDialog({ project, template, templates, attribute, onClose }: Props) {
  const [draft, setDraft] = useState<Draft>(() => (attribute ? draftOf(attribute) : EMPTY));
  const [refused, setRefused] = useState<unknown>(undefined);
  const [isSaving, setSaving] = useState(false);
  const facts = useFacts(project, template, attribute, draft.required && attribute?.required === false);
  const isEmpty = draft.slug === "" && draft.label === "";
  const written: Faults = isEmpty ? {} : faultsOf(draft, othersOf(template, attribute));
  const told =
    refused instanceof RequestError ? refusals(refused, "/attributes/0", attribute?.slug ?? null) : {};
  const faults = { ...told, ...written };
  const effects = isEmpty ? [] : effectsOf(template, attribute, draft, facts);
  const change = attribute
    ? changeOf(attribute, draft)
    : { attributes: [newAttribute(draft)] as NonNullable<ReturnType<typeof changeOf>>["attributes"] };
  const isRefused = effects.some(({ kind }) => kind === "refusal");
  const name = draft.label || draft.slug;
  const save = async () => {
    if (!change) return;
    setSaving(true);
    try {
      await changeTemplate(project, template.slug, change);
      sayDone(attribute ? t.saved(name) : t.added(name));
      onClose();
    } catch (error) {
      setRefused(error);
      setSaving(false);
    }
  };
  const edit = (next: Draft) => {
    setDraft(next);
    setRefused(undefined);
  };
  return (
    <Dialog
      title={attribute ? t.editAttribute(attributeLabel(attribute)) : t.newAttribute}
      isOpen
      isQuestion={change !== null && !isEmpty}
      width="wide"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{t.cancel}</Button>
          <Button
            kind="main"
            onPress={save}
            isDisabled={
              change === null || isEmpty || isSaving || isRefused || Object.keys(written).length > 0
            }
          >
            {attribute ? t.save : t.addAttribute}
          </Button>
        </>
      }
    >
      <AttributeForm {...{ project, templates, draft, faults }} setDraft={edit} isNew={attribute === null} />
      <Effects effects={effects} />
      {refused !== undefined && Object.keys(told).length === 0 && <Failure error={refused} />}
    </Dialog>
  );
}

/** What the effects of a change depend on. Values are counted only where the count is wanted. */
export function useFacts(
  project: string,
  template: Template,
  attribute: Attribute | null,
  isCounted: boolean,
) {
  const records = useCount(project, template.slug);
  const filters = attribute ? [{ field: attribute.slug, operator: "not-empty" as const }] : [];
  const filled = useCount(project, template.slug, filters, isCounted && attribute !== null);
  const views = useViews(project, template.slug);
  return { records, filled, views: attribute ? viewsWith(views.data ?? [], attribute.slug) : [] };
}
