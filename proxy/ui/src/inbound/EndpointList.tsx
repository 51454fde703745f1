import { Inbox, Plus } from "lucide-react";
import { Link, useLocation } from "wouter";
import { useTemplates } from "../api/queries";
import { Button } from "../components/Button";
import { type Column, DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Page } from "../components/Page";
import { Tag } from "../components/Tag";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import type { Endpoint } from "./draft";
import { useEndpoints } from "./queries";

const t = pageMessages.inbound;

/** All endpoints of a project that the caller may configure. */
export function EndpointList({ project }: { project: string }) {
  const endpoints = useEndpoints(project);
  const templates = useTemplates(project);
  const [, navigate] = useLocation();
  const add = (
    <Button kind="main" icon={Plus} onPress={() => navigate(addresses.newEndpoint(project))}>
      {t.newEndpoint}
    </Button>
  );
  const label = (slug: string) => templates.data?.find((it) => it.slug === slug)?.label ?? slug;
  const columns: Column<Endpoint>[] = [
    {
      id: "name",
      title: t.name,
      cell: ({ slug }) => <Link href={addresses.endpoint(project, slug, "mapping")}>{slug}</Link>,
    },
    { id: "state", title: t.state, cell: State },
    {
      id: "template",
      title: t.template,
      cell: ({ template }) => (
        <Link href={addresses.list(project, template)}>
          <bdi>{label(template)}</bdi>
        </Link>
      ),
    },
    { id: "signed", title: t.signature, cell: ({ signed }) => (signed ? t.signed : t.unsigned) },
    { id: "role", title: t.role, cell: ({ role }) => <bdi>{role}</bdi> },
    {
      id: "changed",
      title: t.changed,
      cell: ({ updated_at }) => updated_at && <TimeAgo at={updated_at} />,
    },
    {
      id: "deliveries",
      title: t.deliveries,
      cell: ({ slug }) => <Link href={addresses.endpoint(project, slug, "deliveries")}>{t.deliveries}</Link>,
    },
  ];
  return (
    <Page title={t.title} lead={t.lead} actions={endpoints.data?.length ? add : undefined}>
      {endpoints.isError && <Failure error={endpoints.error} retry={() => endpoints.refetch()} />}
      {endpoints.isPending && <Skeleton lines={5} />}
      {endpoints.data?.length === 0 && (
        <Empty icon={Inbox} title={t.none} action={add}>
          {t.noneHint}
        </Empty>
      )}
      {endpoints.data && endpoints.data.length > 0 && (
        <DataTable
          label={t.endpoints}
          columns={columns}
          rows={endpoints.data}
          rowKey={(endpoint) => endpoint.id}
        />
      )}
    </Page>
  );
}

/** Whether deliveries are accepted. */
export function State({ enabled }: Pick<Endpoint, "enabled">) {
  return enabled ? <Tag kind="good">{t.accepting}</Tag> : <Tag kind="attention">{t.paused}</Tag>;
}
