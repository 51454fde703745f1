import { type ReactNode, useState } from "react";
import type { Attribute, Template } from "../api/queries";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { Failure } from "../components/Notice";
import { showToast } from "../components/toast";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { useFacts } from "./AttributeDialog";
import { Effects } from "./Effects";
import { effectsOfDrop, withDryRun } from "./effects";
import { changeTemplate } from "./useDefinition";
import { useDryRun } from "./useDryRun";

const t = pageMessages.template;

type Props = { project: string; template: Template; attribute: Attribute; onClose: () => void };

/** Drops an attribute after the user has typed its slug. */
export function DropAttribute({ project, template, attribute, onClose }: Props) {
  const name = attributeLabel(attribute);
  const facts = useFacts(project, template, attribute);
  const { plan, rejection, isAsking } = useDryRun(project, template.slug, { drop: [attribute.slug] });
  const effects = withDryRun(effectsOfDrop(template, attribute, { ...facts, plan }), { plan, rejection });
  return (
    <TypedConfirm
      title={t.dropTitle(name)}
      slug={attribute.slug}
      isPossible={!isAsking && !effects.some(({ kind }) => kind === "rejection")}
      run={async () => {
        await changeTemplate(project, template.slug, { drop: [attribute.slug] });
        showToast(t.dropped(name));
      }}
      onClose={onClose}
    >
      <Effects effects={effects} isAsking={isAsking} />
    </TypedConfirm>
  );
}

type ConfirmProps = {
  title: string;
  slug: string;
  isPossible?: boolean;
  run: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
};

/** A question that the user answers by typing the name of the dropped object. */
export function TypedConfirm({ title, slug, isPossible = true, run, onClose, children }: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<unknown>(undefined);
  const [isRunning, setRunning] = useState(false);
  const isReady = isPossible && typed.trim() === slug && !isRunning;
  const start = async () => {
    if (!isReady) return;
    setRunning(true);
    try {
      await run();
      onClose();
    } catch (error) {
      setError(error);
      setRunning(false);
    }
  };
  return (
    <Dialog
      title={title}
      isOpen
      isQuestion
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{t.cancel}</Button>
          <Button kind="danger" onPress={start} isDisabled={!isReady}>
            {title}
          </Button>
        </>
      }
    >
      {children}
      {isPossible && (
        <TextField
          label={t.typeToConfirm(slug)}
          value={typed}
          onChange={setTyped}
          onKeyDown={(event) => event.key === "Enter" && start()}
          autoFocus
          isCode
        />
      )}
      {error !== undefined && <Failure error={error} />}
    </Dialog>
  );
}
