import { useState } from "react";
import { useLocation } from "wouter";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Failure, Notice } from "../components/Notice";
import { Section } from "../components/Page";
import { Progress } from "../components/Progress";
import { attributeLabel } from "../format/label";
import { words } from "../language";
import { addresses } from "../navigation/addresses";
import style from "./files.module.css";
import { type Import, rowsDone } from "./imports";
import { saveRefused } from "./saveRefused";
import { Figures } from "./TrialStep";

const t = words.files;

type Props = { it: Import; template: Template; again: () => void };

/** An import that runs, or what has become of it. */
export function RunStep({ it, template, again }: Props) {
  const name = attributeLabel(template);
  if (it.state === "running") return <Running it={it} name={name} />;
  return <Ended {...{ it, template, again }} />;
}

function Running({ it, name }: { it: Import; name: string }) {
  const done = rowsDone(it);
  return (
    <Section title={t.running(name)} lead={t.mayLeave}>
      <Progress
        label={it.file.name}
        value={it.total > 0 && !it.isWaiting ? Math.min(1, done / it.total) : null}
        text={it.isWaiting ? t.waitingForPlace : t.rowsOf(done, it.total)}
      />
      <div className={style.buttons}>
        <Button onPress={it.stop}>{t.stop}</Button>
        <p className={style.quiet}>{it.isWhole ? t.stopUndoes : t.stopKeeps}</p>
      </div>
    </Section>
  );
}

const TITLES = { done: t.doneTitle, stopped: t.stoppedTitle, failed: t.failedTitle };

function Ended({ it, template, again }: Props) {
  const [, navigate] = useLocation();
  const { state, report } = it;
  if (state === "running") return null;
  return (
    <Section title={TITLES[state]} lead={it.file.name}>
      {state === "done" && report && (
        <>
          <Notice kind="done">{`${t.doneSentence(report.created, report.updated, report.unchanged)}.`}</Notice>
          <Figures counts={report} />
        </>
      )}
      {state === "stopped" && (
        <Notice kind="attention">
          {it.isWhole ? t.stoppedUndone : t.stoppedKept(it.counts?.rows ?? rowsDone(it))}
        </Notice>
      )}
      {state === "failed" && (
        <>
          <Failure error={it.error} />
          <p>{it.isWhole ? t.failedUndone : t.failedKept}</p>
          {report && !it.isWhole && <Figures counts={report} />}
        </>
      )}
      {report && report.failed > 0 && <Refused it={it} />}
      {report?.warnings?.map((warning) => (
        <Notice key={warning} kind="attention">
          {warning}
        </Notice>
      ))}
      <div className={style.buttons}>
        <Button kind="main" onPress={() => navigate(addresses.list(it.project, template.slug))}>
          {t.openList}
        </Button>
        <Button onPress={again}>{t.importOther}</Button>
      </div>
    </Section>
  );
}

/** The refused rows as a file. */
function Refused({ it }: { it: Import }) {
  const [error, setError] = useState<unknown>(undefined);
  const failed = it.report?.failed ?? 0;
  const isPart = it.refused.length < failed && (it.report?.errors.length ?? 0) >= 1000;
  const saveFile = async () => {
    try {
      await saveRefused(it.file, it.reading, it.report?.errors ?? [], it.refused);
      setError(undefined);
    } catch {
      setError(new Error(t.unreadable));
    }
  };
  return (
    <>
      <Notice kind="refusal" actions={<Button onPress={saveFile}>{t.saveRefused}</Button>}>
        {t.refusedSentence(failed)} {isPart && t.firstRefused}
      </Notice>
      {error !== undefined && <Failure error={error} />}
    </>
  );
}
