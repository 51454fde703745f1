import { useState } from "react";
import { asSentence, sentence } from "../api/problem";
import type { Template, View } from "../api/queries";
import { Button } from "../components/Button";
import { DataTable } from "../components/DataTable";
import { Notice } from "../components/Notice";
import { Section } from "../components/Page";
import { Progress } from "../components/Progress";
import { showErrorToast, showToast } from "../components/toast";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { suggestions } from "./suggestions";
import style from "./template.module.css";
import { changeTemplate, type Job, useIndexSuggestions } from "./useDefinition";

const t = pageMessages.template;

/** The background jobs of earlier changes. */
export function Jobs({ jobs, template }: { jobs: Job[]; template: Template }) {
  if (jobs.length === 0) return null;
  return (
    <div className={style.boxes}>
      {jobs.map((job) => {
        const attribute = template.attributes.find(({ slug }) => slug === job.attribute);
        const name = attribute ? attributeLabel(attribute) : (job.attribute ?? t.jobs.searches);
        const label = job.kind === "index" ? t.jobs.index(name) : t.jobs[job.kind];
        return job.state === "failed" ? (
          <Notice key={job.id} kind="rejection">
            {`${label}: ${asSentence(job.error ?? t.jobFailed)} ${t.jobAgain}`}
          </Notice>
        ) : (
          <Progress
            key={job.id}
            label={label}
            value={job.state === "running" ? job.progress : null}
            text={job.hint ? asSentence(job.hint) : job.state === "pending" ? t.jobWaits : undefined}
          />
        );
      })}
    </div>
  );
}

type Props = { project: string; template: Template; records: number | null; views: View[] };

/** Attributes that searches or saved views use without an index. */
export function Suggestions({ project, template, records, views }: Props) {
  const counted = useIndexSuggestions(project, template.slug, true);
  const [asked, setAsked] = useState<string[]>([]);
  const rows = suggestions(template, counted, views, records);
  if (rows.length === 0) return null;
  const add = async (slug: string, name: string) => {
    setAsked([...asked, slug]);
    try {
      await changeTemplate(project, template.slug, { attributes: [{ slug, indexed: true }] });
      showToast(t.indexRequested(name));
    } catch (error) {
      showErrorToast(sentence(error));
    }
    setAsked((it) => it.filter((other) => other !== slug));
  };
  return (
    <Section title={t.suggestions} lead={t.suggestionsLead}>
      <DataTable
        label={t.suggestionsTable}
        rows={rows}
        rowKey={({ attribute }) => attribute.slug}
        columns={[
          {
            id: "attribute",
            title: t.attribute,
            cell: ({ attribute }) => <span dir="auto">{attributeLabel(attribute)}</span>,
          },
          { id: "why", title: t.why, cell: ({ why }) => why },
          {
            id: "add",
            title: t.actions,
            isTitleHidden: true,
            cell: ({ attribute }) => (
              <Button
                isDisabled={asked.includes(attribute.slug)}
                onPress={() => add(attribute.slug, attributeLabel(attribute))}
              >
                {t.addIndex}
              </Button>
            ),
          },
        ]}
      />
    </Section>
  );
}
