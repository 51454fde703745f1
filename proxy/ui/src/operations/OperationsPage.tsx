import { Page } from "../components/Page";

export default function OperationsPage(_props: { project: string }) {
  return <Page title="OperationsPage">{null}</Page>;
}
