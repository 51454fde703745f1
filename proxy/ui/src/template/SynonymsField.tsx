import { RequestError } from "../api/problem";
import { TextField } from "../components/Field";
import { pageMessages } from "../language/pages";
import { lineOf } from "./synonyms";

const t = pageMessages.template;

type Props = { lines: string; setLines: (lines: string) => void; isInLines: boolean; error: unknown };

/** The errors of synonyms, with their line numbers. */
export function synonymsError(lines: string, error: unknown): string | undefined {
  if (!(error instanceof RequestError)) return undefined;
  const found = error.problem?.errors?.find(({ pointer }) => pointer.startsWith("/synonyms"));
  if (found === undefined) return undefined;
  const line = lineOf(lines, found.pointer);
  return line === undefined ? found.detail : t.synonymsLine(line, found.detail);
}

/** The synonyms of a template, one set per line. */
export function SynonymsField({ lines, setLines, isInLines, error }: Props) {
  return (
    <TextField
      label={t.synonyms}
      rows={3}
      value={lines}
      onChange={setLines}
      isReadOnly={!isInLines}
      hint={isInLines ? t.synonymsHint : t.synonymsElsewhere}
      error={synonymsError(lines, error)}
    />
  );
}
