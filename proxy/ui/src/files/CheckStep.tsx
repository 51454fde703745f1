import { useEffect, useState } from "react";
import { Button } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { Failure, Notice } from "../components/Notice";
import { Section } from "../components/Page";
import { Progress } from "../components/Progress";
import { pageMessages } from "../language/pages";
import { number } from "../language/plural";
import style from "./files.module.css";
import { RejectedTable } from "./RejectedTable";
import { optionsOf, type Plan } from "./request";
import { type Counts, type Report, Stopped, transfer } from "./transfer";
import { Warnings } from "./Warnings";

const t = pageMessages.files;

type Props = { file: File; plan: Plan; back: () => void; start: (trial: Report, isWhole: boolean) => void };

type State = { sent: number; isWaiting?: boolean; report?: Report; error?: unknown };

/** Has the service check the whole file in a dry run, and shows the result. */
export function CheckStep({ file, plan, back, start }: Props) {
  const [state, setState] = useState<State>({ sent: 0 });
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try sends the file again.
  useEffect(() => {
    const controller = new AbortController();
    setState({ sent: 0 });
    const events = {
      sent: (sent: number) => setState((it) => ({ ...it, sent, isWaiting: false })),
      waiting: () => setState({ sent: 0, isWaiting: true }),
    };
    transfer(file, optionsOf(plan, true, false), false, events, controller.signal).then(
      (report) => setState({ sent: file.size, report }),
      (error) => error instanceof Stopped || setState({ sent: 0, error }),
    );
    return () => controller.abort();
  }, [file, plan, tries]);
  const { sent, isWaiting, report, error } = state;
  if (error !== undefined)
    return (
      <>
        <Failure error={error} retry={() => setTries(tries + 1)} />
        <div className={style.buttons}>
          <Button onPress={back}>{t.back}</Button>
        </div>
      </>
    );
  if (!report)
    return (
      <Section title={t.trying} lead={t.tryingLead}>
        {isWaiting ? (
          <Progress label={file.name} value={null} text={t.waitingForOthers} />
        ) : sent < file.size ? (
          <Progress label={file.name} value={sent / file.size} text={t.sentOf(sent, file.size)} />
        ) : (
          <Progress label={file.name} value={null} text={t.checking(plan.reading.rowCount)} />
        )}
        <div className={style.buttons}>
          <Button onPress={back}>{t.stop}</Button>
        </div>
      </Section>
    );
  return <Outcome {...{ file, plan, report, back, start }} />;
}

function Outcome({ file, plan, report, back, start }: Props & { report: Report }) {
  const [isWhole, setWhole] = useState(false);
  const good = report.rows - report.failed;
  const isDone = report.created + report.updated === 0 && good > 0;
  return (
    <>
      <Section title={t.trialTitle} lead={t.trialLead(report.rows)}>
        <Figures counts={report} />
        <Warnings report={report} />
        {isDone && <Notice kind="done">{report.failed > 0 ? t.othersUnchanged : t.nothingChanges}</Notice>}
        {good === 0 && <Notice kind="attention">{t.nothingToImport}</Notice>}
      </Section>
      {report.failed > 0 && <RejectedTable {...{ file, plan, report }} />}
      {report.failed === 0 && good > 0 && !isDone && (
        <div>
          <Checkbox isSelected={isWhole} onChange={setWhole}>
            {t.allOrNothing}
          </Checkbox>
          <p className={style.quiet}>{t.allOrNothingHint}</p>
        </div>
      )}
      <div className={style.foot}>
        <Button onPress={back}>{t.back}</Button>
        {good > 0 && !isDone && (
          <Button kind="main" onPress={() => start(report, isWhole)}>
            {report.failed > 0 ? t.importOthers(good, report.failed) : t.import(good)}
          </Button>
        )}
      </div>
    </>
  );
}

/** New, changed, unchanged and rejected rows. */
export function Figures({ counts }: { counts: Counts }) {
  return (
    <dl className={style.figures}>
      {(["created", "updated", "unchanged", "failed"] as const).map((name) => (
        <div
          key={name}
          className={`${style.figure} ${name === "failed" && counts.failed > 0 ? style.rejected : ""}`}
        >
          <dt>{t[name]}</dt>
          <dd>{number(counts[name])}</dd>
        </div>
      ))}
    </dl>
  );
}
