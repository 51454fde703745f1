import { useState } from "react";
import { type Quota, readAdministrationAgain, useQuotas } from "../api/administration";
import { bodyOf, inProject, PUT } from "../api/client";
import { RequestError } from "../api/problem";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { Failure, OtherFailure, Skeleton } from "../components/Notice";
import { Gauge } from "../components/Progress";
import { showToast } from "../components/toast";
import { relativeTime } from "../format/moment";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import style from "./Access.module.css";
import { readWhole } from "./wholeNumber";

const t = pageMessages.access;

/** The quotas of a project: usage and limits. */
export function Quotas({ project }: { project: string }) {
  const quotas = useQuotas(project);
  const [changing, setChanging] = useState<Quota | null>(null);
  if (quotas.isError) return <Failure error={quotas.error} retry={() => quotas.refetch()} />;
  if (!quotas.data) return <Skeleton lines={6} />;
  return (
    <div className={style.quotas}>
      <p className={style.quiet}>{t.quotasLead(project)}</p>
      {quotas.data.map((quota) => (
        <div key={quota.name} className={style.quota}>
          <Level {...quota} />
          <Button
            aria-label={(quota.maximum === null ? t.setLimitOf : t.changeLimitOf)(t.quota[quota.name])}
            onPress={() => setChanging(quota)}
          >
            {quota.maximum === null ? t.setLimit : t.changeLimit}
          </Button>
          <small>
            {t.quotaHint[quota.name]}{" "}
            {quota.maximum !== null && quota.resets_at !== null && t.resets(relativeTime(quota.resets_at))}
          </small>
        </div>
      ))}
      {changing && <Change project={project} quota={changing} onClose={() => setChanging(null)} />}
    </div>
  );
}

function Level({ name, maximum, used }: Quota) {
  const label = t.quota[name];
  if (maximum === null) {
    return (
      <div className={style.bar}>
        {label}
        <span className={`${style.quiet} ${style.end}`}>{t.noLimit(used)}</span>
      </div>
    );
  }
  // A limit of 0 is always fully used.
  const share = maximum === 0 ? 1 : (used ?? 0) / maximum;
  return <Gauge label={label} value={share} text={t.usedOf(used, maximum)} />;
}

function Change({ project, quota, onClose }: { project: string; quota: Quota; onClose: () => void }) {
  const [text, setText] = useState(quota.maximum === null ? "" : String(quota.maximum));
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const maximum = readWhole(text);
  const rejection = error instanceof RequestError ? error : null;
  const save = async () => {
    if (maximum === undefined) return;
    setRunning(true);
    try {
      await bodyOf(
        PUT("/v1/quotas/{name}", {
          params: { path: { name: quota.name }, header: inProject(project) },
          body: { maximum },
        }),
      );
      await readAdministrationAgain();
      showToast(t.quotaSaved);
      onClose();
    } catch (error) {
      setError(error);
      setRunning(false);
    }
  };
  return (
    <Dialog
      title={t.limitOf(t.quota[quota.name])}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button kind="main" onPress={save} isDisabled={isRunning || maximum === undefined}>
            {t.save}
          </Button>
        </>
      }
    >
      <TextField
        label={t.maximum}
        hint={t.maximumHint}
        value={text}
        onChange={setText}
        inputMode="numeric"
        error={maximum === undefined ? t.notWhole : rejection?.at("/maximum")}
        autoFocus
      />
      {quota.name === "live_records" && quota.maximum === null && (
        <p className={style.quiet}>{t.firstCount}</p>
      )}
      <OtherFailure error={error} fields={["/maximum"]} />
    </Dialog>
  );
}
