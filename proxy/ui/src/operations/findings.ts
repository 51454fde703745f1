/** Groups findings by severity. */
import type { Examination, Finding } from "../api/administration";

export type Severity = Finding["severity"];
type Check = Examination["checks"][number];

const ORDER: Severity[] = ["error", "warning", "note"];

/** The findings by severity, most severe first, without empty severities. */
export function bySeverity(findings: readonly Finding[]): { severity: Severity; findings: Finding[] }[] {
  return ORDER.map((severity) => ({
    severity,
    findings: findings.filter((finding) => finding.severity === severity),
  })).filter((group) => group.findings.length > 0);
}

export function checkState({ sound }: Check): "sound" | "found" | "unseen" {
  if (sound === null) return "unseen";
  return sound ? "sound" : "found";
}

const STATEMENT =
  /^\s*(select|alter|create|drop|grant|revoke|vacuum|analyze|reindex|update|delete|insert|set|reset|call|do)\b[^.]*;\s*$/is;

/** Whether a remedy is an SQL statement to copy, and not a sentence. */
export function isStatement(remedy: string): boolean {
  return STATEMENT.test(remedy.replaceAll(/'[^']*'|"[^"]*"|\b\w+\.\w+/g, "x"));
}
