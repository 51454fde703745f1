import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { asSentence } from "../api/problem";
import { Button } from "../components/Button";
import { Failure, Notice } from "../components/Notice";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { type Endpoint, isFinished, readAgain, useDelivery } from "./queries";

const t = pageMessages.webhooks;

/** Milliseconds after which a waiting test shows a possible cause. */
const STUCK_AFTER = 6_000;

type Props = { project: string; endpoint: Endpoint; id: string; onClose: () => void };

/** The outcome of a test, when it is known. */
export function TestDelivery({ project, endpoint, id, onClose }: Props) {
  const delivery = useDelivery(project, endpoint.id, id, true);
  const [isStuck, setStuck] = useState(false);
  const [, navigate] = useLocation();
  const { data } = delivery;
  const isDone = data !== undefined && isFinished(data);
  useEffect(() => {
    // The delivery appears in the list, and its outcome at the endpoint.
    if (isDone) void readAgain();
  }, [isDone]);
  useEffect(() => {
    const timer = setTimeout(() => setStuck(true), STUCK_AFTER);
    return () => clearTimeout(timer);
  }, []);
  if (delivery.isError) return <Failure error={delivery.error} retry={() => delivery.refetch()} />;
  if (!isDone)
    return <Notice kind={isStuck ? "attention" : "plain"}>{isStuck ? t.testStuck : t.testWaiting}</Notice>;
  const { state, last_status, last_error, duration_ms } = data;
  return (
    <Notice
      kind={state === "done" ? "done" : "rejection"}
      actions={
        <>
          <Button
            kind="quiet"
            onPress={() => navigate(addresses.webhookDelivery(project, endpoint.slug, id))}
          >
            {t.showDelivery}
          </Button>
          <Button kind="quiet" onPress={onClose}>
            {t.dismiss}
          </Button>
        </>
      }
    >
      {state === "done"
        ? t.testDone(last_status ?? null, duration_ms ?? null)
        : t.testFailed(asSentence(last_error ?? String(last_status ?? "")))}
    </Notice>
  );
}
