import { useQuery } from "@tanstack/react-query";
import { bodyOf, GET } from "../api/client";
import { sentence } from "../api/problem";
import { Skeleton } from "../components/Notice";
import { Section } from "../components/Page";
import { Tag } from "../components/Tag";
import { pageMessages } from "../language/pages";
import style from "./Operations.module.css";

const t = pageMessages.operations;
const POLL = 10_000;

/** The readiness that the service reports. */
export function Service() {
  const ready = useQuery({
    queryKey: ["ready"],
    queryFn: () => bodyOf(GET("/readyz")),
    refetchInterval: POLL,
    retry: false,
  });
  return (
    <Section title={t.service}>
      {ready.isPending && <Skeleton lines={1} />}
      {ready.isError && (
        <p className={style.line} role="alert">
          <Tag kind="bad">{t.notReady}</Tag> {sentence(ready.error)}
        </p>
      )}
      {ready.isSuccess && (
        <p className={style.line}>
          <Tag kind="good">{t.ready}</Tag> {t.readyHint(ready.data.version, ready.data.extension_version)}
        </p>
      )}
    </Section>
  );
}
