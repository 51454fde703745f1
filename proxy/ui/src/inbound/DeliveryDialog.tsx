import { useState } from "react";
import { useLocation } from "wouter";
import { bodyOf, inProject, POST } from "../api/client";
import { prettyJson } from "../api/json";
import { inSentences } from "../api/problem";
import { type Attribute, useTemplate } from "../api/queries";
import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { Dialog } from "../components/Dialog";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { showToast } from "../components/toast";
import { exactTime } from "../format/moment";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import type { Endpoint } from "./draft";
import style from "./Mapping.module.css";
import { pointerInWords, type Rejection, readAgain, useDelivery } from "./queries";
import { Status } from "./Status";
import { keep } from "./unsaved";

const t = pageMessages.inbound;

type Props = { project: string; endpoint: Endpoint; id: string; onClose: () => void };

/** One delivery: its payload and its outcome. */
export function DeliveryDialog({ project, endpoint, id, onClose }: Props) {
  const delivery = useDelivery(project, endpoint.id, id);
  const [, navigate] = useLocation();
  const [state, setState] = useState<{ isRunning: boolean; isRejected?: boolean; error?: unknown }>({
    isRunning: false,
  });
  const attributes = useTemplate(project, endpoint.template)?.attributes ?? [];
  const { data } = delivery;
  const payload = data?.payload === undefined || data.payload === null ? undefined : prettyJson(data.payload);
  const rejection = data?.error ? inSentences(data.error as Rejection) : null;
  const replay = async () => {
    setState({ isRunning: true });
    try {
      const { status, created, updated } = await bodyOf(
        POST("/v1/inbound-endpoints/{endpoint}/deliveries/{id}/replay", {
          params: { path: { endpoint: endpoint.id, id }, header: inProject(project) },
        }),
      );
      await readAgain();
      if (status === "done") showToast(t.replayed(created ?? 0, updated ?? 0));
      setState({ isRunning: false, isRejected: status !== "done" });
    } catch (error) {
      setState({ isRunning: false, error });
    }
  };
  const tryMapping = () => {
    if (payload !== undefined) keep(endpoint.id, { sample: payload });
    navigate(addresses.endpoint(project, endpoint.slug, "mapping"));
  };
  const actions = data && (
    <>
      {payload !== undefined && <Button onPress={tryMapping}>{t.tryMapping}</Button>}
      {data.status === "failed" && (
        <Button kind="main" onPress={replay} isDisabled={state.isRunning}>
          {t.replay}
        </Button>
      )}
      {data.status === "done" && <Button onPress={onClose}>{t.close}</Button>}
    </>
  );
  return (
    <Dialog title={t.delivery(id)} isOpen onClose={onClose} width="wide" actions={actions}>
      {delivery.isError && <Failure error={delivery.error} retry={() => delivery.refetch()} />}
      {delivery.isPending && <Skeleton lines={6} />}
      {data && (
        <>
          <dl className={style.facts}>
            <dt>{t.status}</dt>
            <dd>
              <Status status={data.status} />
            </dd>
            {data.received_at && (
              <>
                <dt>{t.received}</dt>
                <dd>{exactTime(data.received_at)}</dd>
              </>
            )}
            {data.webhook_id && (
              <>
                <dt>{t.webhookId}</dt>
                <dd>
                  <code>{data.webhook_id}</code>
                </dd>
              </>
            )}
            {data.status === "done" && (
              <>
                <dt>{t.outcome}</dt>
                <dd>{t.wrote(data.created ?? 0, data.updated ?? 0)}</dd>
              </>
            )}
          </dl>
          {rejection && <Reasons rejection={rejection} attributes={attributes} />}
          {state.isRejected && <Notice kind="attention">{t.rejectedAgain}</Notice>}
          {state.error !== undefined && <Failure error={state.error} />}
          <h3>{t.payload}</h3>
          {payload === undefined ? (
            <p>{t.payloadPurged}</p>
          ) : (
            <Code text={payload} what={t.payload} isBlock />
          )}
        </>
      )}
    </Dialog>
  );
}

function Reasons({ rejection, attributes }: { rejection: Rejection; attributes: readonly Attribute[] }) {
  return (
    <Notice kind="rejection">
      <div className={style.rejections}>
        {rejection.errors?.length ? (
          rejection.errors.map(({ pointer, detail }) => (
            <div key={pointer}>
              <strong title={pointer}>{pointerInWords(pointer, attributes)}</strong>
              <bdi>{detail}</bdi>
            </div>
          ))
        ) : (
          <bdi>{rejection.detail}</bdi>
        )}
      </div>
    </Notice>
  );
}
