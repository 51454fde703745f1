import { AdministratorsOnly } from "../components/AdministratorsOnly";
import { Page } from "../components/Page";
import { pageMessages } from "../language/pages";
import { Embedding } from "./Embedding";
import { Findings } from "./Findings";
import { Jobs } from "./Jobs";
import { Service } from "./Service";

const t = pageMessages.operations;

/** Health of the service and its background jobs. */
export default function OperationsPage({ project }: { project: string }) {
  return (
    <AdministratorsOnly project={project} title={t.title}>
      <Page title={t.title} lead={t.lead}>
        <Service />
        <Findings project={project} />
        <Jobs project={project} />
        <Embedding project={project} />
      </Page>
    </AdministratorsOnly>
  );
}
