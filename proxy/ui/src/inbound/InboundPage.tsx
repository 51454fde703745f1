import { Route, Switch } from "wouter";
import { AdministratorsOnly } from "../components/AdministratorsOnly";
import { pageMessages } from "../language/pages";
import { EndpointList } from "./EndpointList";
import { EndpointPage } from "./EndpointPage";
import { NewEndpoint } from "./NewEndpoint";

const t = pageMessages.inbound;

/** Inbound endpoints: addresses to which other systems deliver. */
export default function InboundPage({ project }: { project: string }) {
  return (
    <AdministratorsOnly project={project} title={t.title} alsoDefiners>
      <Switch>
        <Route path="/p/:project/inbound">
          <EndpointList project={project} />
        </Route>
        {/* Slugs contain no hyphen, so this never names an endpoint. */}
        <Route path="/p/:project/inbound/new-endpoint">
          <NewEndpoint project={project} />
        </Route>
        <Route path="/p/:project/inbound/:endpoint/:tab?">
          {({ endpoint, tab }) => (
            <EndpointPage
              key={endpoint}
              project={project}
              slug={endpoint}
              tab={tab ?? "mapping"}
              delivery={null}
            />
          )}
        </Route>
        <Route path="/p/:project/inbound/:endpoint/:tab/:delivery">
          {({ endpoint, tab, delivery }) => (
            <EndpointPage key={endpoint} project={project} slug={endpoint} tab={tab} delivery={delivery} />
          )}
        </Route>
      </Switch>
    </AdministratorsOnly>
  );
}
