import { useEffect, useState } from "react";
import { readerZone } from "../format/zone";
import { type Proposal, withZone } from "./cellFormat";
import { optionsOf, type Plan } from "./request";
import { slices } from "./slices";
import { type Options, transfer } from "./transfer";

/** The number of bytes that are checked for the cell format. */
const SIZE = 1 << 20;
/** An all-or-nothing import locks its template. A format check waits for it at most this long, in milliseconds. */
const PATIENCE = 30_000;

/** A file and the options of its import. */
export type ProposalRequest = Omit<Plan, "prefix" | "cells"> & { file: File };

const NONE: Proposal = { format: {}, choices: [], readings: [] };

/**
 * The cell format that the service proposes after a dry run of the beginning of the file; null while it is pending. If
 * the dry run fails, nothing is proposed. The check of the whole file then reports the error.
 */
export function useProposal(asked: ProposalRequest | null): Proposal | null {
  const [found, setFound] = useState<{ file: File; question: string; proposal: Proposal } | null>(null);
  const isNeeded =
    asked !== null && asked.reading.format === "csv" && asked.reading.rows.length > 0 && isClear(asked);
  const file = isNeeded ? asked.file : null;
  const options = isNeeded ? optionsOf({ ...asked, prefix: "", cells: {} }, true, false) : null;
  const question = JSON.stringify(options);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `question` contains all dependencies.
  useEffect(() => {
    if (!isNeeded || !options || !file) return;
    const controller = new AbortController();
    let isHere = true;
    const settle = (proposal: Proposal) => isHere && setFound({ file, question, proposal });
    propose(asked, options, controller).then(settle, () => settle(NONE));
    return () => {
      isHere = false;
      controller.abort();
    };
  }, [file, question]);
  if (!isNeeded) return NONE;
  return found !== null && found.file === file && found.question === question ? found.proposal : null;
}

/** Whether each attribute has at most one column. The service rejects duplicates. */
function isClear({ targets }: ProposalRequest): boolean {
  const named = targets.filter((it) => it !== null);
  return new Set(named).size === named.length;
}

async function propose(
  asked: ProposalRequest,
  options: Options,
  controller: AbortController,
): Promise<Proposal> {
  const beginning = await beginningOf(asked.file, asked.reading);
  // A proposal does not wait for a free slot. The user waits only after pressing a button.
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
  // In other encodings, the bytes do not show where rows end.
  if (file.size <= SIZE || encoding.startsWith("utf-16")) return file;
  for await (const { blob } of slices(file, delimiter, SIZE)) return new File([blob], file.name);
  return file;
}
