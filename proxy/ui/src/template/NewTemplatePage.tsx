import { Page } from "../components/Page";

export default function NewTemplatePage(_props: { project: string }) {
  return <Page title="NewTemplatePage">{null}</Page>;
}
