import { Lock, SearchX } from "lucide-react";
import { useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import { privileges, type Template, useMe, useTemplates } from "../api/queries";
import { Empty } from "../components/Empty";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { Page } from "../components/Page";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import { asLines } from "./asLines";
import { CheckStep } from "./CheckStep";
import { ColumnsStep } from "./ColumnsStep";
import type { CellFormat } from "./cellFormat";
import { type Matching, matchColumns, type Target } from "./columns";
import { DropArea, DropInvitation } from "./DropArea";
import { takeFile } from "./droppedFile";
import { FileStep } from "./FileStep";
import { startImport, useImports } from "./imports";
import { RunStep } from "./RunStep";
import { type Choices, type Reading, read } from "./reading";
import { optionsOf, type Plan } from "./request";
import { type Step, Steps } from "./Steps";
import type { Report } from "./transfer";
import { useProposal } from "./useProposal";

const t = pageMessages.files;

/** Imports a file into a template in four steps. Only the last step writes. */
export default function ImportPage({ project, template: slug }: { project: string; template: string }) {
  const templates = useTemplates(project);
  const me = useMe(project);
  const [dropped, setDropped] = useState(takeFile);
  const failed = [templates, me].find((it) => it.isError);
  if (failed) return <Failure error={failed.error} retry={() => failed.refetch()} />;
  if (!templates.data || !me.data) return <Skeleton lines={8} />;
  const template = templates.data.find((it) => it.slug === slug);
  if (!template)
    return (
      <Empty icon={SearchX} title={messages.frame.notFound}>
        {messages.frame.notFoundHint}
      </Empty>
    );
  const may = privileges(me.data, project, slug);
  const title = t.importTitle(attributeLabel(template));
  if (!may.has("create") && !may.has("update"))
    return (
      <Page title={title}>
        <Empty icon={Lock} title={t.mayNotImport}>
          {t.mayNotImportHint(attributeLabel(template))}
        </Empty>
      </Page>
    );
  return (
    <DropArea onFile={setDropped}>
      <Page title={title} lead={t.importLead}>
        <Wizard {...{ project, template, dropped }} />
      </Page>
    </DropArea>
  );
}

type Chosen = {
  file: File;
  reading: Reading;
  targets: Target[];
  matching: Matching;
  /** The cell format as edited by the user; null for the proposed one. */
  format: CellFormat | null;
};

type Props = { project: string; template: Template; dropped: File | null };

function Wizard({ project, template, dropped }: Props) {
  const imports = useImports();
  const [parameters] = useSearchParams();
  const requested = Number(parameters.get("import"));
  const earlier = imports
    .filter((it) => it.project === project && it.template === template.slug)
    .findLast((it) => it.id === requested || it.state === "running");
  const [step, setStep] = useState<Step>(earlier && !dropped ? "run" : "file");
  const [importId, setImportId] = useState<number | null>(earlier?.id ?? null);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [prefix, setPrefix] = useState("");
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<string | null>(null);

  const proposal = useProposal(chosen && { project, template: template.slug, ...chosen });
  const format = chosen?.format ?? proposal?.format ?? {};

  const open = async (given: File, choices?: Choices) => {
    try {
      const file = await asLines(given);
      const reading = await read(file, choices);
      const isText = !reading.rows
        .slice(0, 20)
        .some(({ cells }) => cells.some((it) => it.includes("\u0000")));
      setError(isText ? null : t.looksBinary);
      setChosen(
        isText
          ? { file, reading, targets: matchColumns(template, reading), matching: {}, format: null }
          : null,
      );
      setStep("file");
    } catch {
      setError(t.unreadable);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only newly dropped files are opened.
  useEffect(() => {
    if (dropped) void open(dropped);
  }, [dropped]);

  const start = (trial: Report, isWhole: boolean) => {
    if (!chosen || !plan) return;
    setImportId(startImport(chosen.file, chosen.reading, optionsOf(plan, false, isWhole), trial));
    setStep("run");
  };
  const current = imports.find(({ id }) => id === importId);
  if (step === "run" && current) {
    const again = () => {
      setChosen(null);
      setStep("file");
    };
    return (
      <>
        <Steps step="run" />
        <RunStep it={current} template={template} again={again} />
      </>
    );
  }
  return (
    <>
      <Steps step={chosen ? step : "file"} />
      {error !== null && <Notice kind="rejection">{error}</Notice>}
      {!chosen && <DropInvitation onFile={open} />}
      {chosen && step === "file" && (
        <FileStep
          {...chosen}
          choose={(choices) => open(chosen.file, choices)}
          onFile={open}
          next={() => setStep("columns")}
        />
      )}
      {chosen && step === "columns" && (
        <ColumnsStep
          {...{ project, template, prefix, setPrefix, proposal, format }}
          reading={chosen.reading}
          targets={chosen.targets}
          setTargets={(targets) => setChosen({ ...chosen, targets })}
          matching={chosen.matching}
          setMatching={(matching) => setChosen({ ...chosen, matching })}
          setFormat={(format) => setChosen({ ...chosen, format })}
          back={() => setStep("file")}
          next={() => {
            setPlan({ project, template: template.slug, ...chosen, prefix, cells: format });
            setStep("trial");
          }}
        />
      )}
      {chosen && plan && step === "trial" && (
        <CheckStep file={chosen.file} plan={plan} back={() => setStep("columns")} start={start} />
      )}
    </>
  );
}
