import { Route, Switch } from "wouter";
import { AdministratorsOnly } from "../components/AdministratorsOnly";
import { pageMessages } from "../language/pages";
import { EndpointList } from "./EndpointList";
import { EndpointPage } from "./EndpointPage";
import { NewEndpoint } from "./NewEndpoint";

/** Webhook endpoints: URLs of other systems to which changes are delivered. */
export default function WebhooksPage({ project }: { project: string }) {
  return (
    <AdministratorsOnly project={project} title={pageMessages.webhooks.title}>
      <Switch>
        <Route path="/p/:project/webhooks">
          <EndpointList project={project} />
        </Route>
        {/* Slugs contain no hyphen, so this never names an endpoint. */}
        <Route path="/p/:project/webhooks/new-endpoint">
          <NewEndpoint project={project} />
        </Route>
        <Route path="/p/:project/webhooks/:endpoint/:tab?">
          {({ endpoint, tab }) => (
            <EndpointPage
              key={endpoint}
              project={project}
              slug={endpoint}
              tab={tab ?? "deliveries"}
              delivery={null}
            />
          )}
        </Route>
        <Route path="/p/:project/webhooks/:endpoint/:tab/:delivery">
          {({ endpoint, tab, delivery }) => (
            <EndpointPage key={endpoint} project={project} slug={endpoint} tab={tab} delivery={delivery} />
          )}
        </Route>
      </Switch>
    </AdministratorsOnly>
  );
}
