import { KeyRound } from "lucide-react";
import { Route, Switch, useLocation } from "wouter";
import { useApiKeys } from "../api/administration";
import { AdministratorsOnly } from "../components/AdministratorsOnly";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Page } from "../components/Page";
import { Tabs } from "../components/Tabs";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { GrantsTab } from "./GrantsTab";
import { KeysTab } from "./KeysTab";
import { ProjectsTab } from "./ProjectsTab";
import { Quotas } from "./Quotas";

const t = pageMessages.access;

/** API keys, roles and their grants, quotas, projects. */
export default function AccessPage({ project }: { project: string }) {
  return (
    <AdministratorsOnly project={project} title={t.title}>
      <Page title={t.title} lead={t.lead}>
        <Switch>
          <Route path="/p/:project/access/:tab?">
            {({ tab }) => <Parts project={project} tab={tab ?? "keys"} />}
          </Route>
        </Switch>
      </Page>
    </AdministratorsOnly>
  );
}

function Parts({ project, tab }: { project: string; tab: string }) {
  const keys = useApiKeys(project);
  const [, navigate] = useLocation();
  if (keys.isError) return <Failure error={keys.error} retry={() => keys.refetch()} />;
  if (keys.data === undefined) return <Skeleton lines={8} />;
  if (keys.data === null)
    return (
      <Empty icon={KeyRound} title={t.notServed}>
        {t.notServedHint}
      </Empty>
    );
  return (
    <Tabs
      label={t.title}
      selected={tab in t.tabs ? tab : "keys"}
      onSelect={(id) => navigate(addresses.access(project, id))}
      items={[
        { id: "keys", label: t.tabs.keys, content: <KeysTab project={project} keys={keys.data} /> },
        { id: "grants", label: t.tabs.grants, content: <GrantsTab project={project} /> },
        { id: "quotas", label: t.tabs.quotas, content: <Quotas project={project} /> },
        { id: "projects", label: t.tabs.projects, content: <ProjectsTab project={project} /> },
      ]}
    />
  );
}
