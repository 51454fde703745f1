import { RotateCw } from "lucide-react";
import { type Examination, type Finding, useExamination } from "../api/administration";
import { asSentence, RequestError } from "../api/problem";
import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { DataTable } from "../components/DataTable";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { Section } from "../components/Page";
import { Tag } from "../components/Tag";
import { pageMessages } from "../language/pages";
import { bySeverity, checkState, isStatement } from "./findings";
import style from "./Operations.module.css";

const t = pageMessages.operations;

/** The results of a check of the database, with remedies. */
export function Findings({ project }: { project: string }) {
  const examination = useExamination(project);
  // This service has no check of the database.
  if (examination.data === null) return null;
  const isForbidden = examination.error instanceof RequestError && examination.error.status === 403;
  return (
    <Section
      title={t.findings}
      lead={t.findingsLead}
      actions={
        !isForbidden && (
          <Button icon={RotateCw} onPress={() => examination.refetch()} isDisabled={examination.isFetching}>
            {examination.isFetching ? t.examining : t.examine}
          </Button>
        )
      }
    >
      {isForbidden && <p className={style.quiet}>{t.unlimitedOnly}</p>}
      {examination.isError && !isForbidden && (
        <Failure error={examination.error} retry={() => examination.refetch()} />
      )}
      {examination.isPending && <Skeleton lines={3} />}
      {examination.data && (
        <div className={style.list}>
          {examination.data.findings.length === 0 && <Notice kind="done">{t.nothingFound}</Notice>}
          {bySeverity(examination.data.findings).map(({ severity, findings }) => (
            <div key={severity} className={style.list}>
              <h3>{t.severities[severity]}</h3>
              {findings.map((finding, index) => (
                <One key={index} finding={finding} />
              ))}
            </div>
          ))}
          <Checks examination={examination.data} />
        </div>
      )}
    </Section>
  );
}

function One({ finding: { severity, check, message, remedy } }: { finding: Finding }) {
  return (
    <article className={`${style.finding} ${style[severity] ?? ""}`}>
      <p className={style.message}>{asSentence(message)}</p>
      {isStatement(remedy) ? (
        <Code text={remedy} what={t.remedy} />
      ) : (
        remedy !== "" && (
          <p className={style.message}>
            <strong>{t.whatToDo}:</strong> {asSentence(remedy)}
          </p>
        )
      )}
      <code className={style.small}>{t.foundBy(check)}</code>
    </article>
  );
}

const STATES = { sound: "good", found: "attention", unseen: "plain" } as const;

function Checks({ examination: { checks } }: { examination: Examination }) {
  const sound = checks.filter((check) => check.sound).length;
  return (
    <details className={style.checks}>
      <summary>{t.checks(sound, checks.length)}</summary>
      <DataTable
        label={t.checkList}
        columns={[
          {
            id: "check",
            title: t.check,
            cell: ({ name, description }) => (
              <div>
                <span className={style.message}>{description}</span>
                <code className={style.small}>{name}</code>
              </div>
            ),
          },
          {
            id: "state",
            title: t.state,
            cell: (check) => {
              const state = checkState(check);
              return <Tag kind={STATES[state]}>{t.checkStates[state]}</Tag>;
            },
          },
        ]}
        rows={checks}
        rowKey={({ name }) => name}
      />
    </details>
  );
}
