import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { bodyOf, GET, inProject } from "../api/client";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { Failure } from "../components/Notice";
import { Progress } from "../components/Progress";
import { Select } from "../components/Select";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { useSession } from "../session/session";
import { DELIMITERS, type Delimiter } from "./encoding";
import { startExport, useExports } from "./exports";
import style from "./files.module.css";
import { type Csv, forSpreadsheet, PLAIN } from "./spreadsheet";

const t = pageMessages.files;
const ALL = "";
const FORMS = ["csv", "excel", "ndjson"] as const;
type Form = (typeof FORMS)[number];

type Props = {
  project: string;
  templates: Template[];
  /** The export that the address specifies. */
  requested: { template: string | null; view: string | null };
};

/** The choice of what to export, and the running export. */
export function ExportForm({ project, templates, requested }: Props) {
  const { key } = useSession();
  const [template, setTemplate] = useState(
    (templates.find(({ slug }) => slug === requested.template) ?? templates[0])?.slug ?? "",
  );
  const [view, setView] = useState(requested.view ?? ALL);
  const [form, setForm] = useState<Form>("csv");
  const [csv, setCsv] = useState(PLAIN);
  const format = form === "ndjson" ? "ndjson" : "csv";
  const [id, setId] = useState<number | null>(null);
  const views = useQuery({
    queryKey: [key, "views", project, template],
    queryFn: async () =>
      (
        await bodyOf(
          GET("/v1/templates/{template}/views", {
            params: { path: { template }, header: inProject(project) },
          }),
        )
      ).views,
    enabled: template !== "",
  });
  const current = useExports().find((it) => it.id === id);
  const isRunning = current?.state === "running";
  const known = (views.data ?? []).map(({ slug, label }) => ({ id: slug, label: label || slug }));
  const chosen = known.some((it) => it.id === view) ? view : ALL;
  return (
    <>
      <div className={style.form}>
        <Select
          label={t.template}
          choices={templates.map((it) => ({ id: it.slug, label: attributeLabel(it) }))}
          value={template}
          onChange={(slug) => {
            setTemplate(slug);
            setView(ALL);
          }}
        />
        <Select
          label={t.view}
          choices={[{ id: ALL, label: t.allRecords }, ...known]}
          value={chosen}
          onChange={setView}
        />
        <Select<Form>
          label={t.format}
          choices={FORMS.map((id) => ({ id, label: t.formats[id], hint: t.formatHints[id] }))}
          value={form}
          onChange={(next) => {
            setForm(next);
            setCsv(next === "excel" ? forSpreadsheet() : PLAIN);
          }}
        />
        {format === "csv" && <CsvFields csv={csv} setCsv={setCsv} />}
      </div>
      <div className={style.buttons}>
        <Button
          icon={Download}
          isDisabled={isRunning}
          onPress={() =>
            setId(startExport({ project, template, format, csv, view: chosen === ALL ? null : chosen }))
          }
        >
          {t.export}
        </Button>
      </div>
      {views.isError && <Failure error={views.error} retry={() => views.refetch()} />}
      {isRunning && (
        <>
          <Progress label={t.exporting(current.name)} value={null} text={t.received(current.bytes)} />
          <div className={style.buttons}>
            <Button onPress={current.stop}>{t.cancel}</Button>
          </div>
        </>
      )}
      {current?.state === "failed" && <Failure error={current.error} />}
    </>
  );
}

/** The format of the cells in the file. */
function CsvFields({ csv, setCsv }: { csv: Csv; setCsv: (csv: Csv) => void }) {
  return (
    <>
      <Select<Delimiter>
        label={t.delimiter}
        choices={DELIMITERS.map((id) => ({ id, label: t.delimiters[id] }))}
        value={csv.delimiter}
        onChange={(delimiter) => setCsv({ ...csv, delimiter })}
      />
      <Select<Csv["decimal"]>
        label={t.decimal}
        choices={([".", ","] as const).map((id) => ({ id, label: t.marks[id] ?? id }))}
        value={csv.decimal}
        onChange={(decimal) => setCsv({ ...csv, decimal })}
      />
      <Checkbox isSelected={csv.hasMark} onChange={(hasMark) => setCsv({ ...csv, hasMark })}>
        {t.byteOrderMark}
      </Checkbox>
    </>
  );
}
