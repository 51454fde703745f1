import { useState } from "react";
import { RequestError } from "../api/problem";
import type { Attribute, Template } from "../api/queries";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { Failure } from "../components/Notice";
import { showToast } from "../components/toast";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { AttributeForm } from "./AttributeForm";
import {
  changeOf,
  type Draft,
  draftOf,
  EMPTY,
  errorsOf,
  type FieldErrors,
  newAttribute,
  othersOf,
  rejections,
} from "./draft";
import { Effects } from "./Effects";
import { effectsOf, viewsWith, withDryRun } from "./effects";
import { changeTemplate, useCount, useViews } from "./useDefinition";
import { useDryRun } from "./useDryRun";

const t = pageMessages.template;

type Props = {
  project: string;
  template: Template;
  templates: Template[];
  /** Null for a new one. */
  attribute: Attribute | null;
  onClose: () => void;
};

/** Adds or changes an attribute, and shows the effects first. */
export function AttributeDialog({ project, template, templates, attribute, onClose }: Props) {
  const [draft, setDraft] = useState<Draft>(() => (attribute ? draftOf(attribute) : EMPTY));
  const [rejected, setRejected] = useState<unknown>(undefined);
  const [isSaving, setSaving] = useState(false);
  const facts = useFacts(project, template, attribute);
  const isEmpty = draft.slug === "" && draft.label === "";
  const written: FieldErrors = isEmpty ? {} : errorsOf(draft, othersOf(template, attribute));
  const change = attribute
    ? changeOf(attribute, draft)
    : { attributes: [newAttribute(draft)] as NonNullable<ReturnType<typeof changeOf>>["attributes"] };
  const isWhole = !isEmpty && Object.keys(written).length === 0;
  const { plan, rejection, isAsking } = useDryRun(project, template.slug, isWhole ? (change ?? null) : null);
  const reported = rejectionsOf(rejected ?? rejection, attribute?.slug ?? null);
  // Errors that are shown at fields are not repeated.
  const dryRun = Object.keys(reported).length > 0 ? {} : { plan, rejection };
  const errors = { ...reported, ...written };
  const effects = isEmpty
    ? []
    : withDryRun(effectsOf(template, attribute, draft, { ...facts, plan }), dryRun);
  const isRejected = rejection !== undefined;
  const name = draft.label || draft.slug;
  const save = async () => {
    if (!change) return;
    setSaving(true);
    try {
      await changeTemplate(project, template.slug, change);
      showToast(attribute ? t.saved(name) : t.added(name));
      onClose();
    } catch (error) {
      setRejected(error);
      setSaving(false);
    }
  };
  const edit = (next: Draft) => {
    setDraft(next);
    setRejected(undefined);
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
            isDisabled={change === null || !isWhole || isSaving || isAsking || isRejected}
          >
            {attribute ? t.save : t.addAttribute}
          </Button>
        </>
      }
    >
      <AttributeForm {...{ project, templates, draft, errors }} setDraft={edit} isNew={attribute === null} />
      <Effects effects={effects} isAsking={isAsking} />
      {rejected !== undefined && Object.keys(reported).length === 0 && <Failure error={rejected} />}
    </Dialog>
  );
}

/** The errors of single fields. A checkbox cannot show a message, so the effects explain errors of `required`. */
function rejectionsOf(error: unknown, slug: string | null): FieldErrors {
  if (!(error instanceof RequestError)) return {};
  const { required: _, ...displayData } = rejections(error, "/attributes/0", slug);
  return displayData;
}

/** The data for the effects of a change, in addition to the dry run. */
export function useFacts(project: string, template: Template, attribute: Attribute | null) {
  const records = useCount(project, template.slug);
  const views = useViews(project, template.slug);
  return { records, filled: null, views: attribute ? viewsWith(views.data ?? [], attribute.slug) : [] };
}
