import { Page } from "../components/Page";

export default function ReferencePage() {
  return <Page title="ReferencePage">{null}</Page>;
}
