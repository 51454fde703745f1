import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useEffect } from "react";
import { I18nProvider, RouterProvider } from "react-aria-components";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { queryClient, useProjects } from "../api/queries";
import { Skeleton } from "../components/Notice";
import { Toasts } from "../components/toast";
import ListPage from "../list/ListPage";
import { lastVisit, rememberVisit } from "../navigation/lastVisit";
import { useSession } from "../session/session";
import { ErrorBoundary } from "./ErrorBoundary";
import { Frame } from "./Frame";
import style from "./Frame.module.css";
import { Home } from "./Home";
import { NoProject, NotFound } from "./NotFound";
import { SignIn, SignInAgain } from "./SignIn";

const TemplatePage = lazy(() => import("../template/TemplatePage"));
const NewTemplatePage = lazy(() => import("../template/NewTemplatePage"));
const ImportPage = lazy(() => import("../files/ImportPage"));
const FilesPage = lazy(() => import("../files/FilesPage"));
const InboundPage = lazy(() => import("../inbound/InboundPage"));
const WebhooksPage = lazy(() => import("../webhooks/WebhooksPage"));
const AccessPage = lazy(() => import("../access/AccessPage"));
const OperationsPage = lazy(() => import("../operations/OperationsPage"));
const ReferencePage = lazy(() => import("../reference/ReferencePage"));

/** The placeholder of a loading page. */
function Loading() {
  return (
    <div className={style.loading}>
      <Skeleton lines={8} />
    </div>
  );
}

/** The pages of a project. The record is a drawer over its list, so both are one page. */
function ProjectPages({ project }: { project: string }) {
  const [location] = useLocation();
  const projects = useProjects();
  const isKnown = projects.data?.some(({ slug }) => slug === project) ?? true;
  useEffect(() => {
    if (projects.data && isKnown) rememberVisit({ project });
  }, [projects.data, isKnown, project]);
  // A project that was created elsewhere appears with the next response.
  if (!isKnown) return projects.isFetching ? <Loading /> : <NoProject />;
  return (
    <Frame project={project}>
      <ErrorBoundary address={location}>
        <Suspense fallback={<Loading />}>
          <Switch>
            <Route path="/p/:project/t/:template/definition">
              {({ template }) => <TemplatePage key={template} project={project} template={template} />}
            </Route>
            <Route path="/p/:project/t/:template/import">
              {({ template }) => <ImportPage key={template} project={project} template={template} />}
            </Route>
            <Route path="/p/:project/t/:template/r/:id">
              {({ template, id }) => (
                <ListPage key={template} project={project} template={template} record={id} />
              )}
            </Route>
            <Route path="/p/:project/t/:template">
              {({ template }) => (
                <ListPage key={template} project={project} template={template} record={null} />
              )}
            </Route>
            <Route path="/p/:project/new-template">
              <NewTemplatePage project={project} />
            </Route>
            <Route path="/p/:project/files">
              <FilesPage project={project} />
            </Route>
            <Route path="/p/:project/inbound/*?">
              <InboundPage project={project} />
            </Route>
            <Route path="/p/:project/webhooks/*?">
              <WebhooksPage project={project} />
            </Route>
            <Route path="/p/:project/access/*?">
              <AccessPage project={project} />
            </Route>
            <Route path="/p/:project/operations/*?">
              <OperationsPage project={project} />
            </Route>
            <Route path="/p/:project">
              <Home project={project} />
            </Route>
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Frame>
  );
}

/** The API reference, next to the rail of the last project, or without a rail if the user is not signed in. */
function Reference() {
  const { key } = useSession();
  const projects = useProjects();
  const last = projects.data?.find(({ slug }) => slug === lastVisit().project) ?? projects.data?.[0];
  if (key !== null && projects.isPending) return <Loading />;
  const page = (
    <Suspense fallback={<Loading />}>
      <ReferencePage project={last?.slug ?? null} />
    </Suspense>
  );
  return last ? (
    <Frame project={last.slug}>{page}</Frame>
  ) : (
    <>
      <main className={style.alone}>{page}</main>
      <SignInAgain />
    </>
  );
}

function Pages() {
  const { key } = useSession();
  return (
    <Switch>
      <Route path="/docs">
        <Reference />
      </Route>
      {key === null && (
        <Route>
          <SignIn />
        </Route>
      )}
      <Route path="/">
        <Home project={null} />
      </Route>
      <Route path="/p/:project/*?">{({ project }) => <ProjectPages key={project} project={project} />}</Route>
      <Route>
        <Redirect to="/" />
      </Route>
    </Switch>
  );
}

export function App() {
  const [location, navigate] = useLocation();
  return (
    <I18nProvider>
      <RouterProvider navigate={navigate}>
        <QueryClientProvider client={queryClient}>
          <ErrorBoundary address={location}>
            <Pages />
          </ErrorBoundary>
          <Toasts />
        </QueryClientProvider>
      </RouterProvider>
    </I18nProvider>
  );
}
