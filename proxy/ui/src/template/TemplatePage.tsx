import { Page } from "../components/Page";

export default function TemplatePage(_props: { project: string; template: string }) {
  return <Page title="TemplatePage">{null}</Page>;
}
