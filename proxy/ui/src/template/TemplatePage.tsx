import { Plus, SearchX, Table2, Upload } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import {
  type Attribute,
  type Privilege,
  privileges,
  type Template,
  useMe,
  useTemplates,
} from "../api/queries";
import { useOnScreen } from "../code/current";
import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { Empty } from "../components/Empty";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { Page, Section } from "../components/Page";
import { showToast } from "../components/toast";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { AttributeDialog } from "./AttributeDialog";
import { AttributeTable } from "./AttributeTable";
import { DropAttribute, TypedConfirm } from "./DropDialog";
import { SettingsFacts, SettingsForm } from "./SettingsForm";
import style from "./template.module.css";
import { dropTemplate, forgetTemplates, useCount, useJobs, useViews } from "./useDefinition";
import { Jobs, Suggestions } from "./Work";

const t = pageMessages.template;

/** The definition of a template, editable with the privilege `define`. */
export default function TemplatePage({ project, template: slug }: { project: string; template: string }) {
  const templates = useTemplates(project);
  const me = useMe(project);
  const failed = [templates, me].find((it) => it.isError);
  if (failed) return <Failure error={failed.error} retry={() => failed.refetch()} />;
  if (!templates.data || !me.data) return <Skeleton lines={8} />;
  const template = templates.data.find((it) => it.slug === slug);
  if (!template)
    return (
      <Empty icon={SearchX} title={t.noTemplate}>
        {t.noTemplateHint}
      </Empty>
    );
  return (
    <Definition
      {...{ project, template }}
      templates={templates.data}
      may={privileges(me.data, project, slug)}
    />
  );
}

type Props = { project: string; template: Template; templates: Template[]; may: Set<Privilege> };

type Open =
  | { dialog: "add" }
  | { dialog: "edit" | "drop"; attribute: Attribute }
  | { dialog: "dropTemplate" };

function Definition({ project, template, templates, may }: Props) {
  const mayDefine = may.has("define");
  const [, navigate] = useLocation();
  const [open, setOpen] = useState<Open | null>(null);
  const records = useCount(project, template.slug);
  const views = useViews(project, template.slug);
  const jobs = useJobs(project, template.slug, mayDefine);
  useOnScreen({ method: "GET", path: `/v1/templates/${encodeURIComponent(template.slug)}`, project });
  const close = () => setOpen(null);
  const name = attributeLabel(template);
  return (
    <Page
      title={name}
      lead={t.lead(template.slug, records)}
      actions={
        <>
          {(may.has("create") || may.has("update")) && (
            <Button icon={Upload} onPress={() => navigate(addresses.import(project, template.slug))}>
              {t.import}
            </Button>
          )}
          {mayDefine && (
            <Button kind="main" icon={Plus} onPress={() => setOpen({ dialog: "add" })}>
              {t.addAttribute}
            </Button>
          )}
        </>
      }
    >
      {!mayDefine && <Notice>{t.readOnly}</Notice>}
      <Jobs jobs={jobs} template={template} />
      <Section title={t.attributes} lead={t.attributesLead}>
        {template.attributes.length === 0 ? (
          <Empty icon={Table2} title={t.noAttributes}>
            {t.noAttributesHint}
          </Empty>
        ) : (
          <AttributeTable
            {...{ template, templates }}
            {...(mayDefine && {
              edit: (attribute: Attribute) => setOpen({ dialog: "edit", attribute }),
              drop: (attribute: Attribute) => setOpen({ dialog: "drop", attribute }),
            })}
          />
        )}
      </Section>
      {mayDefine && <Suggestions {...{ project, template, records }} views={views.data ?? []} />}
      {mayDefine ? (
        <SettingsForm {...{ project, template, records }} />
      ) : (
        <SettingsFacts template={template} />
      )}
      {mayDefine && (
        <DropSection
          {...{ project, template, templates, records }}
          start={() => setOpen({ dialog: "dropTemplate" })}
        />
      )}
      {open?.dialog === "add" && (
        <AttributeDialog {...{ project, template, templates }} attribute={null} onClose={close} />
      )}
      {open?.dialog === "edit" && (
        <AttributeDialog {...{ project, template, templates }} attribute={open.attribute} onClose={close} />
      )}
      {open?.dialog === "drop" && (
        <DropAttribute {...{ project, template }} attribute={open.attribute} onClose={close} />
      )}
      {open?.dialog === "dropTemplate" && (
        <TypedConfirm
          title={t.dropTitle(name)}
          slug={template.slug}
          run={async () => {
            await dropTemplate(project, template.slug);
            showToast(t.dropped(name));
            navigate(addresses.project(project));
            void forgetTemplates();
          }}
          onClose={close}
        >
          <p>{t.dropTemplateLead}</p>
        </TypedConfirm>
      )}
    </Page>
  );
}

type DropProps = Omit<Props, "may"> & { records: number | null; start: () => void };

/** Drops the template, or shows what prevents it. */
function DropSection({ project, template, templates, records, start }: DropProps) {
  const referring = templates.flatMap((other) =>
    other === template
      ? []
      : other.attributes
          .filter((it) => it.template === template.slug)
          .map((it) => `${attributeLabel(other)}: ${attributeLabel(it)}`),
  );
  const isEmpty = records === 0;
  return (
    <div className={style.danger}>
      <Section title={t.dropTemplate} lead={t.dropTemplateLead}>
        {records !== null && records > 0 && (
          <div className={style.form}>
            <p>{t.dropTemplateHas(records)}</p>
            <Code
              what="SQL"
              text={`select keyed.drop_template('${project}.${template.slug}', with_records => true);`}
            />
          </div>
        )}
        {referring.length > 0 && <p>{t.dropTemplateReferred(referring)}</p>}
        {isEmpty && referring.length === 0 && (
          <div className={style.buttons}>
            <Button kind="danger" onPress={start}>
              {t.dropTemplate}
            </Button>
          </div>
        )}
      </Section>
    </div>
  );
}
