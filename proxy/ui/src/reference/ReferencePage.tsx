import { Page } from "../components/Page";

export default function ReferencePage(_props: { project: string | null }) {
  return <Page title="API">{null}</Page>;
}
