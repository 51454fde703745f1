import { useEffect } from "react";
import { Redirect } from "wouter";
import { useMe, useProjects, useTemplates } from "../api/queries";
import { Button } from "../components/Button";
import { Empty, Failure, Skeleton } from "../components/Notice";
import { words } from "../language";
import { addresses } from "../navigation/addresses";
import { lastPlace, rememberPlace } from "../navigation/place";
import { SignInAgain } from "./SignIn";
import { leave } from "./session";

const t = words.frame;

/** Leads to where the reader was last, else to the first template. */
export function Home({ project }: { project: string | null }) {
  return project === null ? <FirstProject /> : <FirstTemplate project={project} />;
}

function FirstProject() {
  const projects = useProjects();
  const me = useMe(null);
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
  const last = projects.data.find((project) => project.slug === lastPlace().project);
  if (first) return <Redirect to={addresses.project((last ?? first).slug)} replace />;
  return (
    <Empty title={t.noProjects} action={<Button onPress={leave}>{t.signOut}</Button>}>
      {me.data?.admin ? t.createProjectHint : t.noProjectsHint}
    </Empty>
  );
}

function FirstTemplate({ project }: { project: string }) {
  const templates = useTemplates(project);
  useEffect(() => rememberPlace({ project }), [project]);
  if (templates.isError) return <Failure error={templates.error} retry={() => templates.refetch()} />;
  if (!templates.data) return <Skeleton />;
  const last = templates.data.find((template) => template.slug === lastPlace().template) ?? templates.data[0];
  if (last) return <Redirect to={addresses.list(project, last.slug)} replace />;
  return <Empty title={t.noTemplates}>{t.noTemplatesHint}</Empty>;
}
