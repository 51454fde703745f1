import { Page } from "../components/Page";

export default function AccessPage(_props: { project: string }) {
  return <Page title="AccessPage">{null}</Page>;
}
