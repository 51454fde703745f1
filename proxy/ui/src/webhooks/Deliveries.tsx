import { RotateCw, Webhook } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { Button, IconButton } from "../components/Button";
import { type Column, DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Select } from "../components/Select";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { DeliveryDialog } from "./DeliveryDialog";
import { type Delivery, type Endpoint, type DeliveryState as State, useDeliveries } from "./queries";
import { DeliveryState } from "./State";
import style from "./Webhooks.module.css";

const t = pageMessages.webhooks;

type Filter = "all" | State;
const FILTERS: { id: Filter; label: string }[] = [
  { id: "all", label: t.allStates },
  ...(["pending", "running", "done", "failed"] as const).map((id) => ({ id, label: t.states[id] })),
];

type Props = { project: string; endpoint: Endpoint; delivery: string | null };

/** The deliveries of an endpoint, newest first. */
export function Deliveries({ project, endpoint, delivery }: Props) {
  const [filter, setFilter] = useState<Filter>("all");
  const [, navigate] = useLocation();
  const deliveries = useDeliveries(project, endpoint.id, filter === "all" ? null : filter);
  const rows = deliveries.data?.pages.flatMap((page) => page.deliveries) ?? [];
  const columns: Column<Delivery>[] = [
    {
      id: "queued",
      title: t.queued,
      cell: ({ id, created_at }) => (
        <Link href={addresses.webhookDelivery(project, endpoint.slug, id)}>
          {created_at ? <TimeAgo at={created_at} /> : id}
        </Link>
      ),
    },
    { id: "change", title: t.change, cell: ({ operation }) => t.operation[operation] },
    { id: "state", title: t.status, cell: DeliveryState },
    {
      id: "answer",
      title: t.response,
      cell: ({ last_status, last_error }) => responseOf(last_status, last_error),
    },
    { id: "attempts", title: t.attempts, isNumber: true, cell: ({ attempts }) => attempts },
    {
      id: "duration",
      title: t.duration,
      isNumber: true,
      cell: ({ duration_ms }) => (duration_ms == null ? "" : t.milliseconds(duration_ms)),
    },
    {
      id: "next",
      title: t.next,
      cell: ({ next_attempt_at, attempts }) =>
        next_attempt_at && attempts > 0 ? <TimeAgo at={next_attempt_at} /> : "",
    },
  ];
  const [title, hint] =
    filter === "all" ? [t.noDeliveries, t.noDeliveriesHint] : [t.noneInState, t.noneInStateHint];
  return (
    <div className={style.fields}>
      <div className={style.bar}>
        <Select label={t.status} isLabelHidden choices={FILTERS} value={filter} onChange={setFilter} />
        <IconButton icon={RotateCw} label={t.refresh} onPress={() => deliveries.refetch()} />
      </div>
      {deliveries.isError && <Failure error={deliveries.error} retry={() => deliveries.refetch()} />}
      {deliveries.isPending && <Skeleton lines={6} />}
      {deliveries.data && rows.length === 0 && (
        <Empty icon={Webhook} title={title}>
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
          onClose={() => navigate(addresses.webhook(project, endpoint.slug, "deliveries"))}
        />
      )}
    </div>
  );
}

/** The status, or the reason why there is none. */
function responseOf(status: number | null | undefined, error: string | null | undefined) {
  if (status != null) return status;
  return error == null ? "" : <bdi>{error}</bdi>;
}
