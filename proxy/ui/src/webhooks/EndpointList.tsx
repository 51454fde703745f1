import { Plus, Webhook } from "lucide-react";
import { Link, useLocation } from "wouter";
import { useTemplates } from "../api/queries";
import { Button } from "../components/Button";
import { type Column, DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Page } from "../components/Page";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { type Endpoint, useEndpoints } from "./queries";
import { State } from "./State";
import style from "./Webhooks.module.css";

const t = pageMessages.webhooks;

/** All webhook endpoints of a project. */
export function EndpointList({ project }: { project: string }) {
  const endpoints = useEndpoints(project);
  const templates = useTemplates(project);
  const [, navigate] = useLocation();
  const add = (
    <Button kind="main" icon={Plus} onPress={() => navigate(addresses.newWebhook(project))}>
      {t.newEndpoint}
    </Button>
  );
  const label = (slug: string) => templates.data?.find((it) => it.slug === slug)?.label ?? slug;
  const summary = ({ templates, operations, filter }: Endpoint) => {
    const of = templates?.map(label).join(", ") ?? t.allTemplates;
    const which = operations?.map((it) => (it === null ? "" : t.operation[it])).join(", ") ?? t.allChanges;
    return t.summary(filter == null ? of : `${of} (${t.someRecords})`, which);
  };
  const columns: Column<Endpoint>[] = [
    {
      id: "name",
      title: t.name,
      cell: ({ slug }) => <Link href={addresses.webhook(project, slug)}>{slug}</Link>,
    },
    { id: "state", title: t.state, cell: (endpoint) => <State endpoint={endpoint} /> },
    { id: "url", title: t.url, cell: ({ url }) => <code className={style.url}>{url}</code> },
    { id: "delivers", title: t.delivers, cell: (endpoint) => <bdi>{summary(endpoint)}</bdi> },
    { id: "pending", title: t.pending, isNumber: true, cell: ({ pending }) => pending ?? 0 },
    { id: "failed", title: t.failed, isNumber: true, cell: ({ failed }) => failed ?? 0 },
    {
      id: "success",
      title: t.lastSuccess,
      cell: ({ last_success_at: at }) =>
        at ? <TimeAgo at={at} /> : <span className={style.quiet}>{t.never}</span>,
    },
  ];
  return (
    <Page title={t.title} lead={t.lead} actions={endpoints.data?.length ? add : undefined}>
      {endpoints.isError && <Failure error={endpoints.error} retry={() => endpoints.refetch()} />}
      {endpoints.isPending && <Skeleton lines={5} />}
      {endpoints.data?.length === 0 && (
        <Empty icon={Webhook} title={t.none} action={add}>
          {t.noneHint}
        </Empty>
      )}
      {endpoints.data && endpoints.data.length > 0 && (
        <DataTable label={t.endpoints} columns={columns} rows={endpoints.data} rowKey={({ id }) => id} />
      )}
    </Page>
  );
}
