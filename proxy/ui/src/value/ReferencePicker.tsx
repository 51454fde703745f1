import { X } from "lucide-react";
import { useState } from "react";
import { Button, ComboBox, Input, Label, ListBox, ListBoxItem, Popover } from "react-aria-components";
import type { Json } from "../api/json";
import { sentence } from "../api/problem";
import { Rejection } from "../components/Field";
import { RequiredMark } from "../components/Required";
import { messages } from "../language";
import style from "./editor.module.css";
import { type Target, useReference, useTargets } from "./references";

const t = messages.value;

type Props = {
  project: string;
  /** The slug of the template whose records may be chosen. */
  template: string;
  /** The id of the chosen record. */
  value: Json | undefined;
  onChange: (id: string | null, target?: Target) => void;
  label: string;
  isLabelHidden?: boolean;
  error?: string | undefined;
  autoFocus?: boolean;
  isRequired?: boolean;
};

/** Chooses a record of a template by search or by key. */
export function ReferencePicker({ project, template, value, onChange, ...props }: Props) {
  const { label, isLabelHidden, error, autoFocus, isRequired = false } = props;
  const id = typeof value === "string" && value !== "" ? value : null;
  const chosen = useReference(project, template, id);
  const [typed, setTyped] = useState<string | null>(null);
  const targets = useTargets(project, template, typed ?? "", typed !== null);
  // The name of a chosen record is known. Loading it again would reopen the list.
  const [picked, setPicked] = useState<Target>();
  const known = picked?.id === id ? picked : chosen.data;
  const name = id === null ? "" : (known?.name ?? id);
  const shown = typed ?? name;
  const change = (next: string | null) => {
    const target = targets.data?.find((it) => it.id === next);
    setTyped(null);
    setPicked(target);
    onChange(next, target);
  };
  const note = targets.isError ? sentence(targets.error) : targets.isFetching ? t.searching : t.noRecordFound;
  return (
    <ComboBox
      className={style.field ?? ""}
      aria-label={isLabelHidden ? label : undefined}
      items={targets.data ?? []}
      inputValue={shown}
      onInputChange={(text) => text !== shown && setTyped(text)}
      value={id}
      onChange={(key) => key !== null && change(String(key))}
      onOpenChange={(isOpen) => isOpen && typed === null && setTyped("")}
      onBlur={() => setTyped(null)}
      menuTrigger="focus"
      allowsEmptyCollection
      isInvalid={error !== undefined}
      isRequired={isRequired}
      validationBehavior="aria"
      autoFocus={autoFocus ?? false}
    >
      {!isLabelHidden && (
        <Label className={style.label}>
          {label}
          {isRequired && <RequiredMark />}
        </Label>
      )}
      <div className={`${style.box} ${style.oneLine} ${error ? style.rejected : ""}`}>
        <Input className={style.adding ?? ""} placeholder={name || t.searchRecord} dir="auto" />
        {id !== null && (
          <Button
            slot={null}
            className={style.remove ?? ""}
            aria-label={t.clear}
            onPress={() => change(null)}
          >
            <X size={14} aria-hidden />
          </Button>
        )}
      </div>
      {error && <Rejection>{error}</Rejection>}
      <Popover className={style.popover ?? ""}>
        <ListBox<Target>
          className={style.list ?? ""}
          renderEmptyState={() => <p className={style.note}>{note}</p>}
        >
          {(target) => (
            <ListBoxItem id={target.id} textValue={target.name} className={style.item ?? ""}>
              <span dir="auto">{target.name}</span>
              {target.key !== null && target.key !== target.name && (
                <code className={style.key} dir="auto">
                  {target.key}
                </code>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
