import { Page } from "../components/Page";

export default function ImportPage(_props: { project: string; template: string }) {
  return <Page title="ImportPage">{null}</Page>;
}
