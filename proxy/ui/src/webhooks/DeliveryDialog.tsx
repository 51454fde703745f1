import { useState } from "react";
import { Link } from "wouter";
import { bodyOf, inProject, POST } from "../api/client";
import { parseJson, prettyJson } from "../api/json";
import { asSentence } from "../api/problem";
import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { Dialog } from "../components/Dialog";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { showToast } from "../components/toast";
import { exactTime, relativeTime } from "../format/moment";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { type Delivery, type Endpoint, readAgain, useDelivery } from "./queries";
import { DeliveryState } from "./State";
import style from "./Webhooks.module.css";

const t = pageMessages.webhooks;

type Props = { project: string; endpoint: Endpoint; id: string; onClose: () => void };

/** One delivery: its outcome, its body, and the response of the receiver. */
export function DeliveryDialog({ project, endpoint, id, onClose }: Props) {
  const delivery = useDelivery(project, endpoint.id, id);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { data } = delivery;
  const replay = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const params = { path: { endpoint: endpoint.id, id }, header: inProject(project) };
      await bodyOf(POST("/v1/webhook-endpoints/{endpoint}/deliveries/{id}/replay", { params }));
      showToast(t.replayed);
      await readAgain();
    } catch (error) {
      setError(error);
    } finally {
      setBusy(false);
    }
  };
  const actions = data && (
    <>
      <Button onPress={onClose}>{t.close}</Button>
      <Button kind="main" onPress={replay} isPending={isBusy} isDisabled={data.state === "running"}>
        {data.state === "pending" ? t.replayNow : t.replay}
      </Button>
    </>
  );
  return (
    <Dialog title={t.delivery} isOpen onClose={onClose} width="wide" actions={actions}>
      {delivery.isError && <Failure error={delivery.error} retry={() => delivery.refetch()} />}
      {delivery.isPending && <Skeleton lines={6} />}
      {error !== undefined && <Failure error={error} />}
      {data && (
        <>
          <Facts project={project} delivery={data} />
          {data.last_error && <Notice kind="rejection">{asSentence(data.last_error)}</Notice>}
          <h3>{t.body}</h3>
          {data.body == null ? (
            <p>{t.bodyNone}</p>
          ) : (
            <>
              <p className={style.hint}>{t.bodyLead}</p>
              <Code text={pretty(data.body)} what={t.body} isBlock />
            </>
          )}
          {data.response != null && (
            <>
              <h3>{t.receiverResponse}</h3>
              {data.response === "" ? (
                <p className={style.hint}>{t.responseEmpty}</p>
              ) : (
                <>
                  <p className={style.hint}>{t.responseLead}</p>
                  <Code text={data.response} what={t.receiverResponse} isBlock />
                </>
              )}
            </>
          )}
        </>
      )}
    </Dialog>
  );
}

/** Indents JSON. Other text stays unchanged. */
function pretty(text: string): string {
  try {
    return prettyJson(parseJson(text));
  } catch {
    return text;
  }
}

function Facts({ project, delivery }: { project: string; delivery: Delivery }) {
  const { next_attempt_at: next, finished_at: finished, record_id: record, duration_ms: duration } = delivery;
  const template = templateOf(delivery);
  return (
    <dl className={style.facts}>
      <dt>{t.status}</dt>
      <dd aria-live="polite">
        <DeliveryState {...delivery} />
      </dd>
      <dt>{t.change}</dt>
      <dd>
        {t.operation[delivery.operation]}
        {record && template && (
          <>
            {" · "}
            <Link href={addresses.record(project, template, record)}>{t.openRecord}</Link>
          </>
        )}
      </dd>
      <dt>{t.deliveryId}</dt>
      <dd>
        <code className={style.url}>{delivery.id}</code>
      </dd>
      {delivery.created_at && (
        <>
          <dt>{t.queued}</dt>
          <dd>{exactTime(delivery.created_at)}</dd>
        </>
      )}
      <dt>{t.attempts}</dt>
      <dd>{delivery.attempts}</dd>
      {delivery.last_status != null && (
        <>
          <dt>{t.response}</dt>
          <dd>
            {delivery.last_status}
            {duration != null && ` · ${t.milliseconds(duration)}`}
          </dd>
        </>
      )}
      {next && (
        <>
          <dt>{t.next}</dt>
          <dd title={exactTime(next)}>{relativeTime(next)}</dd>
        </>
      )}
      {finished && (
        <>
          <dt>{t.finished}</dt>
          <dd>{exactTime(finished)}</dd>
        </>
      )}
    </dl>
  );
}

/** The template of the record, from the body. */
function templateOf({ body }: Delivery): string | null {
  if (body == null) return null;
  const slug: unknown = JSON.parse(body)?.data?.template_slug;
  return typeof slug === "string" ? slug : null;
}
