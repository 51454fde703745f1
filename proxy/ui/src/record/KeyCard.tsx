import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import { RequestError } from "../api/problem";
import type { RecordBody } from "../api/queries";
import { Button } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { CopyButton } from "../components/CopyButton";
import { Rejection } from "../components/Field";
import { Notice } from "../components/Notice";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import { ChangeAuthors } from "./ChangeBar";
import style from "./Details.module.css";
import { keyError } from "./errors";
import { Tick } from "./FieldRow";
import { KeyField } from "./KeyField";
import { checkKey } from "./key";
import { KEY } from "./merge";
import { saveWithUndo } from "./save";

const t = messages.record;
const FIELD = { slug: KEY, label: t.key };

type Props = { project: string; template: string; record: RecordBody; mayEdit: boolean; isChanged: boolean };

/** The external key of the record: copy, set, change, clear. */
export function KeyCard({ project, template, record, mayEdit, isChanged }: Props) {
  const key = record.external_key;
  const [isEditing, setEditing] = useState(false);
  const [isClearing, setClearing] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const clear = () => saveWithUndo(project, record.id, FIELD, key, null);
  return (
    <section className={`${style.card} ${isChanged ? style.changed : ""}`} aria-label={t.key}>
      {isEditing ? (
        <KeyForm
          project={project}
          template={template}
          record={record}
          onClose={(saved) => {
            setEditing(false);
            setSaved(saved);
          }}
        />
      ) : (
        <div className={style.keyLine}>
          <div className={style.keyText}>
            <span className={style.label}>{t.key}</span>
            {key === null ? (
              <span className={style.none}>{t.noKey}</span>
            ) : (
              <span className={style.keyValue}>
                <code dir="auto">{key}</code>
                <CopyButton text={key} what={t.copyKey} />
                {isSaved && <Tick />}
              </span>
            )}
          </div>
          {mayEdit && (
            <div className={style.choice}>
              <Button onPress={() => setEditing(true)}>{key === null ? t.setKey : t.changeKey}</Button>
              {key !== null && (
                <Button kind="quiet" onPress={() => setClearing(true)}>
                  {t.clearKey}
                </Button>
              )}
            </div>
          )}
        </div>
      )}
      {isClearing && key !== null && (
        <Confirm title={t.clearKeyTitle} action={t.clearKey} run={clear} onClose={() => setClearing(false)}>
          {t.clearKeyQuestion(key)}
        </Confirm>
      )}
    </section>
  );
}

type FormProps = {
  project: string;
  template: string;
  record: RecordBody;
  onClose: (isSaved: boolean) => void;
};

function KeyForm({ project, template, record, onClose }: FormProps) {
  const [start, setStart] = useState(record.external_key);
  const [typed, setTyped] = useState(start ?? "");
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isConflicting = record.external_key !== start;
  const { trimmed, isValid } = checkKey(typed);

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!isValid || isConflicting) return;
    if (trimmed === start) return onClose(false);
    setBusy(true);
    try {
      if (await saveWithUndo(project, record.id, FIELD, start, trimmed)) onClose(true);
    } catch (rejection) {
      setError(rejection);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className={style.keyForm}
      onSubmit={save}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose(false);
      }}
    >
      <KeyField
        label={t.key}
        value={typed}
        onChange={(next) => {
          setTyped(next);
          setError(null);
        }}
        isRequired
        autoFocus
      />
      {error !== null && <KeyRejection project={project} template={template} typed={trimmed} error={error} />}
      {isConflicting && (
        <Notice
          kind="attention"
          actions={<Button onPress={() => setStart(record.external_key)}>{t.takeMine}</Button>}
        >
          <ChangeAuthors project={project} record={record} fields={[KEY]} />
        </Notice>
      )}
      <div className={style.choice}>
        <Button type="submit" kind="main" isPending={isBusy} isDisabled={!isValid || isConflicting}>
          {t.save}
        </Button>
        <Button onPress={() => onClose(false)}>{isConflicting ? t.takeTheirs : t.cancelEdit}</Button>
      </div>
    </form>
  );
}

type RejectionProps = { project: string; template: string; typed: string; error: unknown };

/** The error of a key, with a link to the record that uses it if the caller can see that record. */
export function KeyRejection({ project, template, typed, error }: RejectionProps) {
  const holder = error instanceof RequestError ? error.problem?.existing_id : undefined;
  const isTaken = error instanceof RequestError && error.code === "external_key_taken";
  return (
    <Rejection>
      {isTaken ? t.keyTaken(typed) : keyError(error)}{" "}
      {holder && <Link href={addresses.record(project, template, holder)}>{t.openHolder}</Link>}
    </Rejection>
  );
}
