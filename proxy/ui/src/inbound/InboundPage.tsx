import { Page } from "../components/Page";

export default function InboundPage(_props: { project: string }) {
  return <Page title="InboundPage">{null}</Page>;
}
