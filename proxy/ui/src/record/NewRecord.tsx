import { type FormEvent, useRef, useState } from "react";
import { useAttempt } from "../api/attempt";
import { bodyOf, inProject, POST, type Schemas } from "../api/client";
import type { Json } from "../api/json";
import { refreshLists } from "../api/lists";
import { writing } from "../api/ownWrites";
import { RequestError } from "../api/problem";
import { type Attribute, type RecordBody, type Template, useTemplate } from "../api/queries";
import { Button } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { Dialog } from "../components/Dialog";
import { Failure, Skeleton } from "../components/Notice";
import { RequiredNote } from "../components/Required";
import { showToast } from "../components/toast";
import { messages } from "../language";
import { valueText } from "../value/text";
import { ValueEditor } from "../value/ValueEditor";
import { errorAt } from "./errors";
import { KeyRejection } from "./KeyCard";
import { KeyField } from "./KeyField";
import { checkKey } from "./key";
import style from "./NewRecord.module.css";

const t = messages.record;
const FORM = "new-record";

type Values = Record<string, Json | undefined>;

type Props = {
  project: string;
  template: string;
  isOpen: boolean;
  onClose: () => void;
  /** The last record that was created before the dialog closes. */
  onCreated: (record: RecordBody) => void;
};

/** A dialog that creates one record, or several in a row. */
export function NewRecord({ project, template, isOpen, onClose, onCreated }: Props) {
  const definition = useTemplate(project, template);
  if (!isOpen) return null;
  if (!definition) {
    return (
      <Dialog title={t.newRecord(template)} isOpen onClose={onClose} width="wide">
        <Skeleton />
      </Dialog>
    );
  }
  return <Form project={project} template={definition} onClose={onClose} onCreated={onCreated} />;
}

function useCreation(project: string, template: string) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const attempt = useAttempt();
  const create = async (body: Schemas["NewRecord"]): Promise<RecordBody | null> => {
    setBusy(true);
    setError(null);
    try {
      const record = await attempt.send((name) => {
        const params = { path: { template }, header: { ...inProject(project), "Idempotency-Key": name } };
        return writing(() => bodyOf(POST("/v1/entities/template/{template}", { params, body })));
      });
      void refreshLists(project, template);
      return record;
    } catch (rejection) {
      setError(rejection);
      return null;
    } finally {
      setBusy(false);
    }
  };
  return { error, isBusy, create, changed: () => attempt.renew() };
}

type FormProps = { project: string; template: Template; onClose: () => void; onCreated: Props["onCreated"] };

function Form({ project, template, onClose, onCreated }: FormProps) {
  const { error, isBusy, create, changed } = useCreation(project, template.slug);
  const [key, setKey] = useState("");
  const [values, setValues] = useState<Values>({});
  const [isAnother, setAnother] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const [round, setRound] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const { trimmed, isValid } = checkKey(key);
  const isDirty = key !== "" || Object.values(values).some((it) => it !== undefined && it !== null);
  const keyError = error instanceof RequestError && error.at("/external_key") !== undefined ? error : null;
  const isElsewhere =
    error !== null &&
    keyError === null &&
    !template.attributes.some(({ slug }) => errorAt(error, slug) !== undefined);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy || (trimmed !== "" && !isValid)) return;
    const attributes = Object.fromEntries(
      Object.entries(values).filter(([, value]) => value !== undefined),
    ) as Schemas["Attributes"];
    const record = await create(trimmed === "" ? { attributes } : { attributes, external_key: trimmed });
    if (record === null) {
      // Focus the first rejected field.
      setTimeout(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
    } else if (isAnother) {
      showToast(t.isCreated);
      setKey("");
      setValues({});
      setRound(round + 1);
    } else onCreated(record);
  };
  return (
    <Dialog
      title={t.newRecord(template.label ?? template.slug)}
      isOpen
      isQuestion={isDirty}
      width="wide"
      onClose={() => (isDirty ? setLeaving(true) : onClose())}
      actions={
        <>
          <span className={style.another}>
            <Checkbox isSelected={isAnother} onChange={setAnother}>
              {t.createAnother}
            </Checkbox>
          </span>
          <Button onPress={() => (isDirty ? setLeaving(true) : onClose())}>
            {messages.components.cancel}
          </Button>
          <Button type="submit" form={FORM} kind="main" isPending={isBusy}>
            {t.create}
          </Button>
        </>
      }
    >
      <form id={FORM} ref={form} key={round} className={style.form} onSubmit={submit}>
        {isElsewhere && <Failure error={error} />}
        <div>
          <KeyField
            label={t.keyOptional}
            hint={t.keyHint}
            value={key}
            onChange={(next) => {
              setKey(next);
              changed();
            }}
            autoFocus
          />
          {keyError && (
            <KeyRejection project={project} template={template.slug} typed={trimmed} error={keyError} />
          )}
        </div>
        {template.attributes.map((attribute) => (
          <Field
            key={attribute.slug}
            project={project}
            template={template.slug}
            attribute={attribute}
            value={values[attribute.slug]}
            onChange={(value) => {
              setValues((before) => ({ ...before, [attribute.slug]: value }));
              changed();
            }}
            error={errorAt(error, attribute.slug)}
          />
        ))}
        {template.attributes.some(isRequired) && <RequiredNote />}
      </form>
      {isLeaving && (
        <Dialog
          title={t.discardTitle}
          isOpen
          isQuestion
          onClose={() => setLeaving(false)}
          actions={
            <>
              <Button onPress={() => setLeaving(false)} autoFocus>
                {messages.components.cancel}
              </Button>
              <Button kind="danger" onPress={onClose}>
                {t.discard}
              </Button>
            </>
          }
        >
          <p>{t.discardQuestion}</p>
        </Dialog>
      )}
    </Dialog>
  );
}

type FieldProps = {
  project: string;
  template: string;
  attribute: Attribute;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  error: string | undefined;
};

const isRequired = (attribute: Attribute): boolean =>
  attribute.required && (attribute.default ?? null) === null;

/** A field with a hint about the value that an empty field gets. */
function Field({ project, template, attribute, value, onChange, error }: FieldProps) {
  const hasDefault = attribute.default !== undefined && attribute.default !== null;
  return (
    <div>
      <ValueEditor
        project={project}
        attribute={attribute}
        owner={template}
        isRequired={isRequired(attribute)}
        value={value}
        onChange={onChange}
        error={error}
      />
      {hasDefault && value === undefined && (
        <p className={style.hint}>{t.defaultIs(valueText(attribute, attribute.default))}</p>
      )}
    </div>
  );
}
