import { RequestError } from "../api/problem";
import { TextField } from "../components/Field";
import { pageWords } from "../language/pages";
import { lineOf } from "./synonyms";

const t = pageWords.template;

type Props = { lines: string; setLines: (lines: string) => void; isInLines: boolean; error: unknown };

/** The errors of synonyms, with their line numbers. */
export function synonymsFault(lines: string, error: unknown): string | undefined {
  if (!(error instanceof RequestError)) return undefined;
  const fault = error.problem?.errors?.find(({ pointer }) => pointer.startsWith("/synonyms"));
  if (fault === undefined) return undefined;
  const line = lineOf(lines, fault.pointer);
  return line === undefined ? fault.detail : t.synonymsLine(line, fault.detail);
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
      error={synonymsFault(lines, error)}
    />
  );
}
