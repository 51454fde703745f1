import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Json } from "../api/json";
import type { Attribute, RecordBody } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { Dialog } from "../components/Dialog";
import { showToast } from "../components/toast";
import { datetimeText } from "../format/date";
import { numberText } from "../format/number";
import { messages } from "../language";
import { ValueEditor } from "../value/ValueEditor";
import type { Point } from "./chart";
import { errorOf } from "./errors";
import style from "./Metrics.module.css";
import { correctPoint } from "./store";

const t = messages.record;
const FORM = "correct-point";

type Props = { project: string; record: RecordBody; attribute: Attribute; point: Point };

/** The actions on a point of a series: correct its value, or delete it. */
export function PointActions(props: Props) {
  const { record, attribute, point } = props;
  const [question, setQuestion] = useState<"correct" | "delete" | null>(null);
  const close = () => setQuestion(null);
  const time = datetimeText(point.at);
  const remove = async () => {
    await correctPoint(record.id, attribute.slug, point.at, null);
    showToast(t.pointDeleted);
  };
  return (
    <span className={style.actions}>
      <IconButton icon={Pencil} label={t.editPoint(time)} onPress={() => setQuestion("correct")} />
      <IconButton icon={Trash2} label={t.deletePoint(time)} onPress={() => setQuestion("delete")} />
      {question === "correct" && <CorrectPoint {...props} onClose={close} />}
      {question === "delete" && (
        <Confirm title={t.deletePointTitle} action={t.deleteThePoint} run={remove} onClose={close}>
          {t.deletePointQuestion(point.value === null ? "" : numberText(point.value, attribute.format), time)}
        </Confirm>
      )}
    </span>
  );
}

function CorrectPoint({ project, record, attribute, point, onClose }: Props & { onClose: () => void }) {
  const [value, setValue] = useState<Json>(point.value);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const cannotBeSent = value == null || typeof value === "string";
  const correct = async () => {
    if (isBusy || cannotBeSent) return;
    setBusy(true);
    try {
      await correctPoint(record.id, attribute.slug, point.at, value);
      showToast(t.pointCorrected);
      onClose();
    } catch (rejection) {
      setError(errorOf(rejection, attribute.slug));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t.correctPoint}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button kind="main" type="submit" form={FORM} isPending={isBusy} isDisabled={cannotBeSent}>
            {t.correct}
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        onSubmit={(event) => {
          event.preventDefault();
          void correct();
        }}
      >
        <p>{datetimeText(point.at)}</p>
        <ValueEditor
          project={project}
          // The time identifies the point and cannot be changed.
          attribute={{ ...attribute, type: "number" }}
          value={value}
          onChange={(next) => {
            if (isBusy) return;
            setValue(next ?? null);
            setError(undefined);
          }}
          error={error}
          autoFocus
        />
      </form>
    </Dialog>
  );
}
