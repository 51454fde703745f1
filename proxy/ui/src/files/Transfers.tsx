import { FileUp } from "lucide-react";
import { useLocation } from "wouter";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Section } from "../components/Page";
import { save } from "../components/save";
import { Tag } from "../components/Tag";
import { attributeLabel } from "../format/label";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { type Export, useExports } from "./exports";
import style from "./files.module.css";
import { type Import, rowsDone, useImports } from "./imports";

const t = pageMessages.files;

type Line = { kind: "import"; it: Import } | { kind: "export"; it: Export };

const TAGS = { running: "plain", done: "good", stopped: "attention", failed: "bad" } as const;

/** The imports and exports of this tab. */
export function Transfers({ project, templates }: { project: string; templates: Template[] }) {
  const [, navigate] = useLocation();
  const imports = useImports().map((it): Line => ({ kind: "import", it }));
  const exports = useExports().map((it): Line => ({ kind: "export", it }));
  const lines = [...imports, ...exports]
    .filter(({ it }) => it.project === project)
    .sort((a, b) => b.it.startedAt - a.it.startedAt);
  const label = (slug: string) => {
    const template = templates.find((it) => it.slug === slug);
    return template ? attributeLabel(template) : slug;
  };
  return (
    <Section title={t.tabTitle} lead={t.tabLead}>
      {lines.length === 0 && <Empty icon={FileUp} title={t.tabEmpty} isPart />}
      {lines.length > 0 && (
        <DataTable<Line>
          label={t.tabTable}
          rows={lines}
          rowKey={({ kind, it }) => `${kind} ${it.id}`}
          columns={[
            { id: "what", title: t.what, cell: ({ kind, it }) => `${t.kinds[kind]}: ${label(it.template)}` },
            {
              id: "file",
              title: t.file,
              cell: (line) => (line.kind === "import" ? line.it.file.name : line.it.name),
            },
            {
              id: "state",
              title: t.state,
              cell: ({ it }) => <Tag kind={TAGS[it.state]}>{t.states[it.state]}</Tag>,
            },
            { id: "outcome", title: t.outcome, cell: outcome },
            {
              id: "started",
              title: t.started,
              cell: ({ it }) => <TimeAgo at={new Date(it.startedAt).toISOString()} />,
            },
            {
              id: "actions",
              title: t.actions,
              isTitleHidden: true,
              cell: (line) => (
                <div className={style.buttons}>
                  {line.it.state === "running" && <Button onPress={line.it.stop}>{t.stop}</Button>}
                  {line.kind === "import" && (
                    <Button
                      kind="quiet"
                      onPress={() =>
                        navigate(`${addresses.import(project, line.it.template)}?import=${line.it.id}`)
                      }
                    >
                      {t.showImport}
                    </Button>
                  )}
                  {line.kind === "export" && line.it.file && (
                    <Button
                      kind="quiet"
                      onPress={() => line.it.file && save(line.it.file as Blob, line.it.name)}
                    >
                      {t.saveAgain}
                    </Button>
                  )}
                </div>
              ),
            },
          ]}
        />
      )}
    </Section>
  );
}

function outcome(line: Line): string {
  if (line.kind === "export") {
    const { state, bytes } = line.it;
    return state === "done" ? t.exported(bytes) : state === "stopped" ? t.cancelled : t.received(bytes);
  }
  const { report, state, total } = line.it;
  const done = rowsDone(line.it);
  if (state === "running") return done === null ? t.rowsOfUnknown(total) : t.rowsOf(done, total);
  if (!report) return "";
  const sentence = t.doneSentence(report.created, report.updated, report.unchanged);
  return report.failed > 0 ? `${sentence}; ${t.rejectedCount(report.failed)}` : sentence;
}
