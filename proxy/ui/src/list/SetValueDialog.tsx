import { useState } from "react";
import type { Json } from "../api/json";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { Select } from "../components/Select";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import { isEmptyValue } from "../value/text";
import { ValueEditor } from "../value/ValueEditor";

const t = messages.list;

type Props = {
  project: string;
  template: Template;
  what: string;
  onSet: (attribute: string, value: Json) => void;
  onClose: () => void;
};

/** Sets one attribute of many records to one value. */
export default function SetValueDialog({ project, template, what, onSet, onClose }: Props) {
  // A measurement belongs to one record at one time, so metrics are left out.
  const attributes = template.attributes.filter(({ type }) => type !== "metric");
  const [slug, setSlug] = useState<string | null>(null);
  const [value, setValue] = useState<Json | undefined>(undefined);
  const attribute = attributes.find((it) => it.slug === slug);
  const isCleared = isEmptyValue(value);
  const set = () => {
    if (!attribute) return;
    onSet(attribute.slug, isCleared ? null : (value as Json));
    onClose();
  };
  return (
    <Dialog
      title={t.setTitle(what)}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button kind="main" onPress={set} isDisabled={!attribute || (isCleared && attribute.required)}>
            {attribute && isCleared ? t.clearAction(what) : t.setAction(what)}
          </Button>
        </>
      }
    >
      <p>{t.setLead}</p>
      <Select
        label={t.attribute}
        choices={attributes.map((it) => ({ id: it.slug, label: attributeLabel(it) }))}
        value={slug}
        onChange={(next) => {
          setSlug(next);
          setValue(undefined);
        }}
      />
      {attribute && (
        <div>
          <ValueEditor
            key={attribute.slug}
            project={project}
            attribute={attribute}
            owner={template.slug}
            label={t.value}
            value={value}
            onChange={setValue}
          />
          {isCleared && <small>{t.noValue}</small>}
        </div>
      )}
    </Dialog>
  );
}
