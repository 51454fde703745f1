import { Empty } from "../components/Notice";
import { words } from "../language";

export function NotFound() {
  return <Empty title={words.frame.notFound}>{words.frame.notFoundHint}</Empty>;
}
