import { Lock } from "lucide-react";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { type Me, privileges, type Template, useMe, useTemplates } from "../api/queries";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Page, Section } from "../components/Page";
import { Select } from "../components/Select";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { lastVisit } from "../navigation/lastVisit";
import { DropArea, DropInvitation } from "./DropArea";
import { passFile } from "./droppedFile";
import { ExportForm } from "./ExportForm";
import style from "./files.module.css";
import { Transfers } from "./Transfers";

const t = pageMessages.files;

/** Imports and exports of the project. */
export default function FilesPage({ project }: { project: string }) {
  const templates = useTemplates(project);
  const me = useMe(project);
  const failed = [templates, me].find((it) => it.isError);
  if (failed) return <Failure error={failed.error} retry={() => failed.refetch()} />;
  if (!templates.data || !me.data) return <Skeleton lines={8} />;
  return <Ready project={project} templates={templates.data} me={me.data} />;
}

type Props = { project: string; templates: Template[]; me: Me };

function Ready({ project, templates, me }: Props) {
  const [, navigate] = useLocation();
  const [parameters] = useSearchParams();
  const may = (slug: string, ...needed: ("create" | "update" | "read")[]) =>
    needed.some((it) => privileges(me, project, slug).has(it));
  const targets = templates.filter(({ slug }) => may(slug, "create", "update"));
  const sources = templates.filter(({ slug }) => may(slug, "read"));
  const requested = parameters.get("template") ?? lastVisit().template;
  const [target, setTarget] = useState(
    () => (targets.find(({ slug }) => slug === requested) ?? targets[0])?.slug,
  );
  const open = (file: File) => {
    if (target === undefined) return;
    passFile(file);
    navigate(addresses.import(project, target));
  };
  return (
    <DropArea onFile={open}>
      <Page title={t.title} lead={t.lead}>
        <Section title={t.importSection} lead={t.importSectionLead}>
          {target === undefined ? (
            <Empty icon={Lock} title={t.mayNotImport}>
              {t.noTarget}
            </Empty>
          ) : (
            <>
              <div className={style.form}>
                <Select
                  label={t.template}
                  choices={targets.map((it) => ({ id: it.slug, label: attributeLabel(it) }))}
                  value={target}
                  onChange={setTarget}
                />
              </div>
              <DropInvitation onFile={open} />
            </>
          )}
        </Section>
        {sources.length > 0 && (
          <Section title={t.exportSection} lead={t.exportSectionLead}>
            <ExportForm
              project={project}
              templates={sources}
              requested={{ template: requested ?? null, view: parameters.get("view") }}
            />
          </Section>
        )}
        <Transfers project={project} templates={templates} />
      </Page>
    </DropArea>
  );
}
