import { Page } from "../components/Page";

export default function FilesPage(_props: { project: string }) {
  return <Page title="FilesPage">{null}</Page>;
}
