import { useEffect, useState } from "react";
import { readerZone } from "../format/zone";
import { type Proposal, withZone } from "./cellFormat";
import { optionsOf, type Plan } from "./request";
import { slices } from "./slices";
import { type Options, transfer } from "./transfer";

/** So much of a file is checked for its format. */
const SIZE = 1 << 20;
/** An import of all rows or none keeps others of its template waiting: so long they wait for a proposal, in milliseconds. */
const PATIENCE = 30_000;

/** A file, and how it would be imported. */
export type Asked = Omit<Plan, "prefix" | "cells"> & { file: File };

const NONE: Proposal = { format: {}, choices: [], readings: [] };

/**
 * The format that the service proposes for the cells of a file, by a check of its beginning that writes nothing; null while
 * it is on its way. Where the check fails nothing is proposed: the check of the whole file says why.
 */
export function useProposal(asked: Asked | null): Proposal | null {
  const [found, setFound] = useState<{ file: File; question: string; proposal: Proposal } | null>(null);
  const isAsked =
    asked !== null && asked.reading.format === "csv" && asked.reading.rows.length > 0 && isClear(asked);
  const file = isAsked ? asked.file : null;
  const options = isAsked ? optionsOf({ ...asked, prefix: "", cells: {} }, true, false) : null;
  const question = JSON.stringify(options);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the question has all that the answer depends on.
  useEffect(() => {
    if (!isAsked || !options || !file) return;
    const controller = new AbortController();
    let isHere = true;
    const answered = (proposal: Proposal) => isHere && setFound({ file, question, proposal });
    propose(asked, options, controller).then(answered, () => answered(NONE));
    return () => {
      isHere = false;
      controller.abort();
    };
  }, [file, question]);
  if (!isAsked) return NONE;
  return found !== null && found.file === file && found.question === question ? found.proposal : null;
}

/** Whether each attribute has at most one column. The service rejects two. */
function isClear({ targets }: Asked): boolean {
  const named = targets.filter((it) => it !== null);
  return new Set(named).size === named.length;
}

async function propose(asked: Asked, options: Options, controller: AbortController): Promise<Proposal> {
  const beginning = await beginningOf(asked.file, asked.reading);
  // A proposal does not wait for a free slot: the user waits only after pressing a button.
  const events = { waiting: () => controller.abort() };
  const timer = setTimeout(() => controller.abort(), PATIENCE);
  const shown = { ...options, query: { ...options.query, preview: "true" } };
  const report = await transfer(beginning, shown, false, events, controller.signal).finally(() =>
    clearTimeout(timer),
  );
  const choices = report.preview?.choices ?? [];
  return {
    format: withZone(report.suggested_format ?? {}, readerZone()),
    choices: choices.filter(({ formats }) => formats.length > 1),
    readings: choices.filter(({ formats }) => formats.length === 1),
  };
}

async function beginningOf(file: File, { encoding, delimiter }: Plan["reading"]): Promise<File> {
  // The bytes of other encodings do not show where rows end.
  if (file.size <= SIZE || encoding.startsWith("utf-16")) return file;
  for await (const { blob } of slices(file, delimiter, SIZE)) return new File([blob], file.name);
  return file;
}
