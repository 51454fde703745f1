import { SearchX } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { bodyOf, inProject, PATCH } from "../api/client";
import { RequestError, sentence } from "../api/problem";
import { useTemplate } from "../api/queries";
import { Button } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { Empty } from "../components/Empty";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { Page } from "../components/Page";
import { Tabs } from "../components/Tabs";
import { showErrorToast, showToast } from "../components/toast";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { Connection } from "./Connection";
import { Deliveries } from "./Deliveries";
import type { Endpoint } from "./draft";
import { MappingTab } from "./MappingTab";
import { readAgain, useEndpoint } from "./queries";

const t = pageMessages.inbound;

type Props = { project: string; slug: string; tab: string; delivery: string | null };

/** One endpoint: its mapping, its deliveries, its address and settings. */
export function EndpointPage({ project, slug, tab, delivery }: Props) {
  const endpoint = useEndpoint(project, slug);
  const [, navigate] = useLocation();
  if (endpoint.error instanceof RequestError && endpoint.error.status === 404) {
    return (
      <Empty
        icon={SearchX}
        title={t.notFound}
        action={<Link href={addresses.inbound(project)}>{t.allEndpoints}</Link>}
      >
        {t.notFoundHint}
      </Empty>
    );
  }
  if (endpoint.isError)
    return (
      <Page title={slug}>
        <Failure error={endpoint.error} retry={() => endpoint.refetch()} />
      </Page>
    );
  if (!endpoint.data)
    return (
      <Page title={slug}>
        <Skeleton lines={6} />
      </Page>
    );
  const common = { project, endpoint: endpoint.data };
  return (
    <Page
      title={slug}
      lead={<Subtitle {...common} />}
      actions={<Pause key={String(endpoint.data.enabled)} {...common} />}
    >
      {!endpoint.data.enabled && <Notice kind="attention">{t.pausedNotice}</Notice>}
      <Tabs
        label={t.title}
        selected={tab in t.tabs ? tab : "mapping"}
        onSelect={(id) => navigate(addresses.endpoint(project, slug, id))}
        items={[
          { id: "mapping", label: t.tabs.mapping, content: <MappingTab {...common} /> },
          {
            id: "deliveries",
            label: t.tabs.deliveries,
            content: <Deliveries {...common} delivery={delivery} />,
          },
          { id: "connection", label: t.tabs.connection, content: <Connection {...common} /> },
        ]}
      />
    </Page>
  );
}

function Subtitle({ project, endpoint }: { project: string; endpoint: Endpoint }) {
  const label = useTemplate(project, endpoint.template)?.label ?? endpoint.template;
  return (
    <>
      <Link href={addresses.inbound(project)}>{t.allEndpoints}</Link>
      {" · "}
      <Link href={addresses.list(project, endpoint.template)}>
        <bdi>{t.writesTo(label)}</bdi>
      </Link>
      {" · "}
      {endpoint.signed ? t.signed : t.unsigned}
    </>
  );
}

function Pause({ project, endpoint }: { project: string; endpoint: Endpoint }) {
  const [isAsking, setAsking] = useState(false);
  const set = async (enabled: boolean) => {
    await bodyOf(
      PATCH("/v1/inbound-endpoints/{endpoint}", {
        params: { path: { endpoint: endpoint.id }, header: inProject(project) },
        body: { enabled },
      }),
    );
    await readAgain();
    showToast(enabled ? t.resumed(endpoint.slug) : t.wasPaused(endpoint.slug));
  };
  if (!endpoint.enabled) {
    return (
      <Button kind="main" onPress={() => set(true).catch((error) => showErrorToast(sentence(error)))}>
        {t.resume}
      </Button>
    );
  }
  return (
    <>
      <Button onPress={() => setAsking(true)}>{t.pause}</Button>
      {isAsking && (
        <Confirm
          title={t.pauseTitle(endpoint.slug)}
          action={t.pause}
          isDanger={false}
          run={() => set(false)}
          onClose={() => setAsking(false)}
        >
          {t.pauseWhat}
        </Confirm>
      )}
    </>
  );
}
