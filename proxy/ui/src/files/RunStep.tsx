import { useState } from "react";
import { useLocation } from "wouter";
import { RequestError } from "../api/problem";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Failure, Notice } from "../components/Notice";
import { Section } from "../components/Page";
import { Progress } from "../components/Progress";
import { attributeLabel } from "../format/label";
import { relativeTime } from "../format/moment";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { allRejected } from "./allRejected";
import { Figures } from "./CheckStep";
import style from "./files.module.css";
import { type Import, rowsDone } from "./imports";
import { byLine } from "./rejected";
import { saveRejected } from "./saveRejected";
import { Stopped } from "./transfer";
import { Warnings } from "./Warnings";

const t = pageMessages.files;

type Props = { it: Import; template: Template; again: () => void };

/** A running import, or its outcome. */
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
        value={
          it.total > 0 && !it.isWaiting && !it.waitsFor && done !== null ? Math.min(1, done / it.total) : null
        }
        text={
          it.isWaiting
            ? t.waitingForOthers
            : it.waitsFor
              ? t.waitsFor(it.waitsFor.role, it.waitsFor.since && relativeTime(it.waitsFor.since))
              : done === null
                ? t.rowsOfUnknown(it.total)
                : t.rowsOf(done, it.total)
        }
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
        <Notice kind="attention">{it.isWhole ? t.stoppedUndone : t.stoppedKept(it.counts?.rows ?? 0)}</Notice>
      )}
      {state === "failed" && (
        <>
          <Failure error={it.error} />
          <p>{it.isWhole ? t.failedUndone : t.failedKept}</p>
          {report && !it.isWhole && <Figures counts={report} />}
        </>
      )}
      {report && report.failed > 0 && <Rejected it={it} />}
      <Warnings report={report} />
      <div className={style.buttons}>
        <Button kind="main" onPress={() => navigate(addresses.list(it.project, template.slug))}>
          {t.openList}
        </Button>
        <Button onPress={again}>{t.importOther}</Button>
      </div>
    </Section>
  );
}

/** Saves the rejected rows as a file. If the report has only the first, the file is checked again for the others. */
function Rejected({ it }: { it: Import }) {
  const [error, setError] = useState<unknown>(undefined);
  const [running, setRunning] = useState<{ bytes: number; stop: () => void } | null>(null);
  const failed = it.report?.failed ?? 0;
  const errors = it.report?.errors ?? [];
  const isPart = it.rejected.length < failed && byLine(errors).size < failed && it.state === "done";
  const isCuttable = !it.reading.encoding.startsWith("utf-16");
  const saveFile = async () => {
    const controller = new AbortController();
    const show = (bytes: number) => setRunning({ bytes, stop: () => controller.abort() });
    setError(undefined);
    try {
      if (isPart && isCuttable) show(0);
      const returned =
        isPart && isCuttable ? await allRejected(it.file, it.options, show, controller.signal) : it.rejected;
      await saveRejected(it.file, it.reading, errors, returned);
    } catch (error) {
      if (error instanceof RequestError) setError(error);
      else if (!(error instanceof Stopped)) setError(new Error(t.unreadable));
    }
    setRunning(null);
  };
  return (
    <>
      <Notice
        kind="rejection"
        actions={running === null && <Button onPress={saveFile}>{t.saveRejected}</Button>}
      >
        {t.rejectedSentence(failed)} {isPart && !isCuttable && t.firstRejected}
      </Notice>
      {running !== null && (
        <>
          <Progress
            label={t.collecting}
            value={running.bytes / it.file.size}
            text={t.readOf(running.bytes, it.file.size)}
          />
          <div className={style.buttons}>
            <Button onPress={running.stop}>{t.cancel}</Button>
          </div>
        </>
      )}
      {error !== undefined && <Failure error={error} />}
    </>
  );
}
