/** What is on the screen as statements of SQL. */
import { JSON_SYNTAX, literal } from "./literal";

/** A text as a literal of PostgreSQL, with `standard_conforming_strings` as it is by default. */
export const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** A value as a literal of jsonb. */
export const jsonb = (value: unknown) => text(literal(value, JSON_SYNTAX));

const table = (project: string, template: string) => text(`${project}.${template}`);

export const searchSql = (project: string, template: string, body: unknown) =>
  `select keyed.search(${table(project, template)}, ${jsonb(body)});`;

export const recordSql = (id: string) => `select keyed.get_record(${text(id)});`;

export const recordByKeySql = (project: string, template: string, key: string) =>
  `select keyed.get_by_key(${table(project, template)}, ${text(key)});`;
