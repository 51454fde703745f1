import { type FormEvent, useState } from "react";
import { RequestError, sentence } from "../api/problem";
import type { Privilege, RecordBody } from "../api/queries";
import { Button } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { Dialog } from "../components/Dialog";
import { Notice } from "../components/Notice";
import { showErrorToast, showToast, withdraw } from "../components/toast";
import { messages } from "../language";
import { Ago, useNewest } from "./ChangeBar";
import { KeyRejection } from "./KeyCard";
import { KeyField } from "./KeyField";
import { checkKey } from "./key";
import { actorName } from "./sentences";
import { deleteRecord, restoreRecord } from "./store";

const t = messages.record;
const RESTORE = "restore-record";

type Props = { project: string; template: string; record: RecordBody; name: string };

/** Asks before deleting the record. Afterwards the deletion can be undone. */
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
      showToast(t.restored(name));
    } catch (error) {
      showErrorToast(sentence(error));
    }
  };
  const run = async () => {
    try {
      await deleteRecord(project, template, record.id);
    } catch (error) {
      const isStale = error instanceof RequestError && error.status === 412;
      throw isStale ? new Error(t.changedMeanwhile) : error;
    }
    showToast(t.deleted(name), { label: t.undo, run: undo }, record.id);
  };
  return (
    <Confirm title={t.deleteTitle(name)} action={t.delete} run={run} onClose={onClose}>
      {t.deleteQuestion}
    </Confirm>
  );
}

/** The notice of a deleted record, with a button to restore it. If its key was taken, the user enters another one. */
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
      withdraw(record.id);
      showToast(t.restored(name));
    } catch (error) {
      if (error instanceof RequestError && error.code === "external_key_taken") setTaken(error);
      else if (key === undefined) showErrorToast(sentence(error));
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

/** Asks for the key of the restored record. It is restored without a key only if the user chooses this. */
function RestoreDialog({ project, template, lost, error, isBusy, onRestore, onClose }: DialogProps) {
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState(lost);
  const { trimmed, isValid } = checkKey(typed);
  const restore = (event: FormEvent) => {
    event.preventDefault();
    if (!isValid || isBusy) return;
    setAsked(trimmed);
    onRestore(trimmed);
  };
  return (
    <Dialog
      title={t.restoreTitle}
      isOpen
      isQuestion
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button onPress={() => onRestore(null)} isDisabled={isBusy}>
            {t.restoreWithout}
          </Button>
          <Button kind="main" type="submit" form={RESTORE} isPending={isBusy} isDisabled={!isValid}>
            {t.restoreWith}
          </Button>
        </>
      }
    >
      <KeyRejection project={project} template={template} typed={asked} error={error} />
      <form id={RESTORE} onSubmit={restore}>
        <KeyField label={t.restoreKey} value={typed} onChange={setTyped} isRequired autoFocus />
      </form>
    </Dialog>
  );
}
