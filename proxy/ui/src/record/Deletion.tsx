import { useState } from "react";
import { RequestError, sentence } from "../api/problem";
import type { Privilege, RecordBody } from "../api/queries";
import { Button } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { Dialog } from "../components/Dialog";
import { Notice } from "../components/Notice";
import { sayDone, sayRefused } from "../components/toast";
import { words } from "../language";
import { Ago, useNewest } from "./ChangeBar";
import { KeyRefusal } from "./KeyCard";
import { KeyField } from "./KeyField";
import { checkKey } from "./key";
import { actorName } from "./sentences";
import { deleteRecord, restoreRecord } from "./store";

const t = words.record;

type Props = { project: string; template: string; record: RecordBody; name: string };

/** Asks before the record is deleted; afterwards the deletion can be undone. */
export function DeleteQuestion({
  template,
  project,
  record,
  name,
  onClose,
}: Props & { onClose: () => void }) {
  const undo = async () => {
    try {
      await restoreRecord(project, template, record.id);
      sayDone(t.restored(name));
    } catch (error) {
      sayRefused(sentence(error));
    }
  };
  const run = async () => {
    try {
      await deleteRecord(project, template, record.id);
    } catch (error) {
      const isStale = error instanceof RequestError && error.status === 412;
      throw isStale ? new Error(t.changedMeanwhile) : error;
    }
    sayDone(t.deleted(name), { label: t.undo, run: undo });
  };
  return (
    <Confirm title={t.deleteTitle(name)} action={t.delete} run={run} onClose={onClose}>
      {t.deleteQuestion}
    </Confirm>
  );
}

/** What a deleted record says of itself, and its way back. A key that was taken meanwhile is asked for anew. */
export function Deleted({ project, template, record, name, may }: Props & { may: Set<Privilege> }) {
  const [isBusy, setBusy] = useState(false);
  const [taken, setTaken] = useState<unknown>(null);
  const entry = useNewest(record, true).data?.find(({ operation }) => operation === "delete");
  const who = entry && actorName(entry.actor);
  const restore = async (key?: string | null) => {
    setBusy(true);
    try {
      await restoreRecord(project, template, record.id, key);
      setTaken(null);
      sayDone(t.restored(name));
    } catch (error) {
      if (error instanceof RequestError && error.code === "external_key_taken") setTaken(error);
      else if (key === undefined) sayRefused(sentence(error));
      else setTaken(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Notice
        actions={
          may.has("update") && (
            <Button kind="main" onPress={() => restore()} isPending={isBusy}>
              {t.restore}
            </Button>
          )
        }
      >
        {who ? t.deletedBy(who) : t.deletedBar} <Ago at={record.deleted_at ?? ""} />.{" "}
        {!may.has("update") && t.deletedRestricted}
      </Notice>
      {taken !== null && (
        <RestoreDialog
          project={project}
          template={template}
          lost={record.external_key ?? ""}
          error={taken}
          isBusy={isBusy}
          onRestore={restore}
          onClose={() => setTaken(null)}
        />
      )}
    </>
  );
}

type DialogProps = {
  project: string;
  template: string;
  /** The key that another record has taken. */
  lost: string;
  error: unknown;
  isBusy: boolean;
  onRestore: (key: string | null) => void;
  onClose: () => void;
};

function RestoreDialog({ project, template, lost, error, isBusy, onRestore, onClose }: DialogProps) {
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState(lost);
  const { trimmed, isValid } = checkKey(typed);
  const restore = () => {
    setAsked(trimmed);
    onRestore(trimmed === "" ? null : trimmed);
  };
  return (
    <Dialog
      title={t.restoreTitle}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{words.components.cancel}</Button>
          <Button kind="main" onPress={restore} isPending={isBusy} isDisabled={trimmed !== "" && !isValid}>
            {t.restore}
          </Button>
        </>
      }
    >
      <KeyRefusal project={project} template={template} typed={asked} error={error} />
      <KeyField label={t.restoreKey} value={typed} onChange={setTyped} hint={t.restoreKeyHint} autoFocus />
    </Dialog>
  );
}
