import { asSentence } from "../api/problem";
import { Notice } from "../components/Notice";
import { pageMessages } from "../language/pages";
import type { Report } from "./transfer";

/** Likely mistakes in a file. */
export function Warnings({ report }: { report: Report | null }) {
  return (report?.warnings ?? []).map(({ message, lines }) => (
    <Notice key={message} kind="attention">
      {asSentence(message)} {lines.length > 0 && pageMessages.files.inLines(lines)}
    </Notice>
  ));
}
