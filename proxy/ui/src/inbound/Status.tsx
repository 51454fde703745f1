import { Tag } from "../components/Tag";
import { pageMessages } from "../language/pages";
import type { Delivery } from "./queries";

const t = pageMessages.inbound;

/** Whether a delivery was processed. */
export function Status({ status }: Pick<Delivery, "status">) {
  return status === "done" ? <Tag kind="good">{t.done}</Tag> : <Tag kind="bad">{t.failed}</Tag>;
}
