import { Inbox, RotateCw } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useTemplate } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { type Column, DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Select } from "../components/Select";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { DeliveryDialog } from "./DeliveryDialog";
import type { Endpoint } from "./draft";
import style from "./Mapping.module.css";
import { type Delivery, type Rejection, reasonText, useDeliveries } from "./queries";
import { ReplayAll } from "./ReplayAll";
import { Status } from "./Status";

const t = pageMessages.inbound;

type Filter = "all" | "done" | "failed";
const FILTERS: { id: Filter; label: string }[] = [
  { id: "all", label: t.allStatus },
  { id: "done", label: t.done },
  { id: "failed", label: t.failed },
];

const EMPTY = {
  all: [t.noDeliveries, t.noDeliveriesHint],
  done: [t.noDone, t.noDoneHint],
  failed: [t.noFailed, t.noFailedHint],
} as const;

/** The log of an endpoint, newest first. */
export function Deliveries({
  project,
  endpoint,
  delivery,
}: {
  project: string;
  endpoint: Endpoint;
  delivery: string | null;
}) {
  const [filter, setFilter] = useState<Filter>("all");
  const [, navigate] = useLocation();
  const attributes = useTemplate(project, endpoint.template)?.attributes ?? [];
  const deliveries = useDeliveries(project, endpoint.id, filter === "all" ? null : filter);
  const rows = deliveries.data?.pages.flatMap((page) => page.deliveries) ?? [];
  const columns: Column<Delivery>[] = [
    {
      id: "received",
      title: t.received,
      cell: ({ id, received_at }) => (
        <Link href={addresses.delivery(project, endpoint.slug, String(id))}>
          {received_at ? <TimeAgo at={received_at} /> : id}
        </Link>
      ),
    },
    { id: "status", title: t.status, cell: Status },
    {
      id: "outcome",
      title: t.outcome,
      cell: ({ status, error, created, updated }) =>
        status === "done" ? (
          t.wrote(created ?? 0, updated ?? 0)
        ) : (
          <bdi>{reasonText(error as Rejection | null, attributes)}</bdi>
        ),
    },
    {
      id: "webhook",
      title: t.webhookId,
      cell: ({ webhook_id }) => webhook_id && <code>{webhook_id}</code>,
    },
  ];
  const [title, hint] = EMPTY[filter];
  return (
    <div className={style.fields}>
      <div className={style.bar}>
        <Select label={t.status} isLabelHidden choices={FILTERS} value={filter} onChange={setFilter} />
        <IconButton icon={RotateCw} label={t.refresh} onPress={() => deliveries.refetch()} />
        <ReplayAll project={project} endpoint={endpoint} />
      </div>
      {deliveries.isError && <Failure error={deliveries.error} retry={() => deliveries.refetch()} />}
      {deliveries.isPending && <Skeleton lines={6} />}
      {deliveries.data && rows.length === 0 && (
        <Empty icon={Inbox} title={title}>
          {hint}
        </Empty>
      )}
      {rows.length > 0 && (
        <DataTable label={t.deliveries} columns={columns} rows={rows} rowKey={({ id }) => id} />
      )}
      {deliveries.hasNextPage && (
        <div className={style.bar}>
          <Button onPress={() => deliveries.fetchNextPage()} isDisabled={deliveries.isFetchingNextPage}>
            {t.older}
          </Button>
        </div>
      )}
      {delivery !== null && (
        <DeliveryDialog
          key={delivery}
          project={project}
          endpoint={endpoint}
          id={delivery}
          onClose={() => navigate(addresses.endpoint(project, endpoint.slug, "deliveries"))}
        />
      )}
    </div>
  );
}
