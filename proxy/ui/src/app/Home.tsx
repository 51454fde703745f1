import { FolderOpen } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Redirect, useLocation } from "wouter";
import { useMe, useProjects, useTemplates } from "../api/queries";
import { Button } from "../components/Button";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { messages } from "../language";
import { leftList } from "../list/remembered";
import { addresses } from "../navigation/addresses";
import { lastVisit } from "../navigation/lastVisit";
import style from "./Home.module.css";
import { SignInAgain } from "./SignIn";
import { endSession } from "./session";

const NewProject = lazy(() => import("../access/NewProject"));

const t = messages.frame;

/** Redirects to the page that the user visited last, or to the first template. */
export function Home({ project }: { project: string | null }) {
  return project === null ? <FirstProject /> : <FirstTemplate project={project} />;
}

function FirstProject() {
  const projects = useProjects();
  if (projects.isError) {
    return (
      <>
        <Failure error={projects.error} retry={() => projects.refetch()} />
        <SignInAgain />
      </>
    );
  }
  if (!projects.data) return <Skeleton />;
  const [first] = projects.data;
  const last = projects.data.find((project) => project.slug === lastVisit().project);
  if (first) return <Redirect to={addresses.project((last ?? first).slug)} replace />;
  return <NoProjects />;
}

function NoProjects() {
  const me = useMe(null);
  const [isCreating, setCreating] = useState(false);
  // A key that is limited to projects cannot create one.
  const mayCreate = me.data?.admin && me.data.projects === null;
  return (
    <main className={style.alone}>
      <Empty
        icon={FolderOpen}
        title={t.noProjects}
        action={
          <div className={style.ways}>
            <Button onPress={endSession}>{t.signOut}</Button>
            {mayCreate && (
              <Button kind="main" onPress={() => setCreating(true)}>
                {t.createProject}
              </Button>
            )}
          </div>
        }
      >
        {mayCreate ? t.createProjectHint : t.noProjectsHint(me.data?.role)}
      </Empty>
      <Suspense fallback={null}>{isCreating && <NewProject onClose={() => setCreating(false)} />}</Suspense>
      <SignInAgain />
    </main>
  );
}

function FirstTemplate({ project }: { project: string }) {
  const templates = useTemplates(project);
  const me = useMe(project);
  const [, navigate] = useLocation();
  if (templates.isError) return <Failure error={templates.error} retry={() => templates.refetch()} />;
  if (!templates.data) return <Skeleton />;
  const last = templates.data.find((template) => template.slug === lastVisit().template) ?? templates.data[0];
  if (last) return <Redirect to={leftList(project, last.slug)} replace />;
  return (
    <Empty
      icon={FolderOpen}
      title={me.data?.admin ? t.noTemplates : t.noTemplatesToSee}
      action={
        me.data?.admin && (
          <Button kind="main" onPress={() => navigate(addresses.newTemplate(project))}>
            {t.newTemplate}
          </Button>
        )
      }
    >
      {me.data?.admin ? t.noTemplatesHint : t.noProjectsHint(me.data?.role)}
    </Empty>
  );
}
