import { Lock, SearchX } from "lucide-react";
import { useEffect } from "react";
import { privileges, useMe, useTemplates } from "../api/queries";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { messages } from "../language";
import { rememberVisit } from "../navigation/lastVisit";
import style from "./ListPage.module.css";
import { RecordList } from "./RecordList";
import { useOpenedView } from "./useOpenedView";

const t = messages.list;

const Waiting = () => (
  <div className={style.waiting}>
    <Skeleton lines={8} />
  </div>
);

type Props = { project: string; template: string; record: string | null };

/** The page of a template: its records as a list, and one of them in a drawer over it. */
export default function ListPage({ project, template: slug, record }: Props) {
  const templates = useTemplates(project);
  const me = useMe(project);
  const template = templates.data?.find((it) => it.slug === slug);
  const isOpening = useOpenedView(project, slug, template);
  useEffect(() => {
    if (template) rememberVisit({ project, template: slug });
  }, [project, slug, template]);

  if (templates.isError && !templates.data)
    return <Failure error={templates.error} retry={() => templates.refetch()} />;
  if (!templates.data || !me.data) {
    if (me.isError) return <Failure error={me.error} retry={() => me.refetch()} />;
    return <Waiting />;
  }
  if (!template)
    return (
      <Empty icon={SearchX} title={t.noTemplate}>
        {t.noTemplateLead}
      </Empty>
    );
  const granted = privileges(me.data, project, slug);
  if (!granted.has("read"))
    return (
      <Empty icon={Lock} title={t.mayNotRead}>
        {t.mayNotReadLead(me.data.role)}
      </Empty>
    );
  if (isOpening) return <Waiting />;
  return (
    <RecordList
      project={project}
      template={template}
      privileges={granted}
      takesText={me.data.query_text}
      record={record}
    />
  );
}
