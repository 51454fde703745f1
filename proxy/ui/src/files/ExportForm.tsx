import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { answer, GET, inProject } from "../api/client";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Failure } from "../components/Notice";
import { Progress } from "../components/Progress";
import { Select } from "../components/Select";
import { attributeLabel } from "../format/label";
import { pageWords } from "../language/pages";
import { useSession } from "../session/session";
import { startExport, useExports, type Wanted } from "./exports";
import style from "./files.module.css";

const t = pageWords.files;
const ALL = "";

type Props = {
  project: string;
  templates: Template[];
  /** What the address asks for. */
  asked: { template: string | null; view: string | null };
};

/** What to export, and the export that runs. */
export function ExportForm({ project, templates, asked }: Props) {
  const { key } = useSession();
  const [template, setTemplate] = useState(
    (templates.find(({ slug }) => slug === asked.template) ?? templates[0])?.slug ?? "",
  );
  const [view, setView] = useState(asked.view ?? ALL);
  const [format, setFormat] = useState<Wanted["format"]>("csv");
  const [id, setId] = useState<number | null>(null);
  const views = useQuery({
    queryKey: [key, "views", project, template],
    queryFn: async () =>
      (
        await answer(
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
        <Select<Wanted["format"]>
          label={t.format}
          choices={[
            { id: "csv", label: t.formats.csv, hint: t.formatHints.csv },
            { id: "ndjson", label: t.formats.ndjson, hint: t.formatHints.ndjson },
          ]}
          value={format}
          onChange={setFormat}
        />
        <Button
          icon={Download}
          isDisabled={isRunning}
          onPress={() =>
            setId(startExport({ project, template, format, view: chosen === ALL ? null : chosen }))
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
