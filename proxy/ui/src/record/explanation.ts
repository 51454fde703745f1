/** Explains in sentences why a role can or cannot see a record. */
import type { Schemas } from "../api/client";
import type { Json } from "../api/json";
import { asSentence } from "../api/problem";
import type { RecordBody } from "../api/queries";
import { type Condition, conditionsOfScope, isSame } from "../filter/condition";
import { simple } from "../filter/operators";
import { readValue } from "../filter/reading";
import { type Context, named, phrase, sentence } from "../filter/sentence";
import { messages } from "../language";
import { isEmptyValue } from "../value/text";

const t = messages.record;

type Explained = Schemas["Access"];
type Grant = Explained["grants"][number];

/** The reasons, one per grant that does not cover the record. */
export function reasonsOf(explained: Explained, record: RecordBody, context: Context): string[] {
  const { sees, grants } = explained;
  const reads = grants.filter(({ privilege }) => privilege === "read");
  const covering = reads.find(({ holds }) => holds);
  if (explained.record === "deleted") return [t.isGone];
  if (sees && covering) return [t.seenBy(covering.target, covering.role)];
  // Administrators need no grant, and a REVOKE in SQL overrides all grants. The service reports both.
  if (sees || covering || explained.record === "missing") return [asSentence(explained.because)];
  if (reads.length === 0) return [t.noReadGrant];
  return reads.map((grant) => t.hidden(`${failing(grant, record, context).join("; ")}.`));
}

/** The conditions of a grant's scope that the record does not satisfy. */
function failing(grant: Grant, record: RecordBody, context: Context): string[] {
  const holds = (condition: Condition) =>
    grant.conditions.some(
      ({ field, operator, value, holds }) =>
        holds && isSame({ field, operator, value: value ?? null }, { value: null, ...condition }),
    );
  return conditionsOfScope(grant.scope)
    .filter((condition) => !holds(condition))
    .map((condition) => {
      const parts = phrase(condition, context);
      const it = simple(condition);
      if (!parts || !it) return t.scopeNeedsThat(sentence(condition, context));
      const needed = t.scopeNeeds(parts.subject, parts.verb, parts.value);
      const has = actual(it.field, record, context);
      return has === undefined ? needed : `${needed}; ${has}`;
    });
}

/** The record's value of a field; undefined for a field of a referenced record. */
function actual(path: string, record: RecordBody, context: Context): string | undefined {
  const field = context.fields.find(path);
  if (!field || path.includes(".")) return undefined;
  const standard = record as unknown as Record<string, Json | undefined>;
  const value = (record.attributes?.[path] as Json | undefined) ?? standard[path];
  if (isEmptyValue(value)) return t.hasNoValue;
  const texts = (Array.isArray(value) ? value : [value as Json]).map((it) =>
    field.kind === "reference"
      ? named(it, field, context)
      : readValue(it, field.kind, context.locale, field.attribute?.format),
  );
  return t.hasValue(texts.join(", "));
}
