import { SearchX, Send } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { bodyOf, inProject, POST } from "../api/client";
import { RequestError, sentence } from "../api/problem";
import { Button } from "../components/Button";
import { Empty } from "../components/Empty";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { Page } from "../components/Page";
import { Tabs } from "../components/Tabs";
import { showErrorToast } from "../components/toast";
import { exactTime, relativeTime } from "../format/moment";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { Deliveries } from "./Deliveries";
import { Pause } from "./Pause";
import { type Endpoint, readAgain, useEndpoint } from "./queries";
import { SettingsTab } from "./SettingsTab";
import { TestDelivery } from "./TestDelivery";
import style from "./Webhooks.module.css";

const t = pageMessages.webhooks;

type Props = { project: string; slug: string; tab: string; delivery: string | null };

/** One endpoint: its deliveries and its settings. */
export function EndpointPage({ project, slug, tab, delivery }: Props) {
  const endpoint = useEndpoint(project, slug);
  const [, navigate] = useLocation();
  const [test, setTest] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (endpoint.error instanceof RequestError && endpoint.error.status === 404) {
    return (
      <Empty
        icon={SearchX}
        title={t.notFound}
        action={<Link href={addresses.webhooks(project)}>{t.allEndpoints}</Link>}
      >
        {t.notFoundHint}
      </Empty>
    );
  }
  if (!endpoint.data)
    return (
      <Page title={slug}>
        {endpoint.isError ? (
          <Failure error={endpoint.error} retry={() => endpoint.refetch()} />
        ) : (
          <Skeleton lines={6} />
        )}
      </Page>
    );
  const common = { project, endpoint: endpoint.data };
  const send = async () => {
    setBusy(true);
    setTest(null);
    try {
      const params = { path: { endpoint: common.endpoint.id }, header: inProject(project) };
      setTest((await bodyOf(POST("/v1/webhook-endpoints/{endpoint}/test", { params }))).id);
      await readAgain();
    } catch (error) {
      showErrorToast(sentence(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      title={slug}
      lead={
        <>
          <Link href={addresses.webhooks(project)}>{t.allEndpoints}</Link>
          {" · "}
          <code className={style.url}>{common.endpoint.url}</code>
        </>
      }
      actions={
        <>
          <Pause key={String(common.endpoint.enabled)} {...common} />
          <Button icon={Send} onPress={send} isPending={isBusy}>
            {t.test}
          </Button>
        </>
      }
    >
      <Condition endpoint={common.endpoint} />
      {test !== null && <TestDelivery key={test} {...common} id={test} onClose={() => setTest(null)} />}
      <Tabs
        label={t.title}
        selected={tab in t.tabs ? tab : "deliveries"}
        onSelect={(id) => navigate(addresses.webhook(project, slug, id))}
        items={[
          {
            id: "deliveries",
            label: t.tabs.deliveries,
            content: <Deliveries {...common} delivery={delivery} />,
          },
          { id: "settings", label: t.tabs.settings, content: <SettingsTab {...common} /> },
        ]}
      />
    </Page>
  );
}

/** Why nothing is delivered, if so. */
function Condition({ endpoint }: { endpoint: Endpoint }) {
  const { enabled, disabled_reason: reason, disabled_at: at, failing_since: since } = endpoint;
  if (!enabled && reason)
    return <Notice kind="rejection">{t.disabledNotice(reason, at ? relativeTime(at) : "")}</Notice>;
  if (!enabled) return <Notice kind="attention">{t.pausedNotice}</Notice>;
  return since ? <Notice kind="attention">{t.failingNotice(exactTime(since))}</Notice> : null;
}
