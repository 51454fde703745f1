import { Tag } from "../components/Tag";
import { pageMessages } from "../language/pages";
import type { Delivery, Endpoint } from "./queries";

const t = pageMessages.webhooks;

/** Whether an endpoint delivers. */
export function State({ endpoint }: { endpoint: Endpoint }) {
  if (!endpoint.enabled)
    return endpoint.disabled_reason ? (
      <Tag kind="bad">{t.disabled}</Tag>
    ) : (
      <Tag kind="attention">{t.paused}</Tag>
    );
  return endpoint.failing_since ? <Tag kind="attention">{t.failing}</Tag> : <Tag kind="good">{t.active}</Tag>;
}

const KINDS = { pending: "plain", running: "plain", done: "good", failed: "bad" } as const;

/** The outcome of a delivery. A finished one without a response was not sent. */
export function DeliveryState({ state, last_status }: Pick<Delivery, "state" | "last_status">) {
  if (state === "done" && last_status == null) return <Tag>{t.withheld}</Tag>;
  return <Tag kind={KINDS[state]}>{t.states[state]}</Tag>;
}
