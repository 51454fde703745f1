import { Page } from "../components/Page";

export default function ListPage(_props: { project: string; template: string; record: string | null }) {
  return <Page title="ListPage">{null}</Page>;
}
