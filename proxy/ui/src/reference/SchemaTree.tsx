import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button } from "react-aria-components";
import { JSON_SYNTAX, literal } from "../code/literal";
import { pageMessages } from "../language/pages";
import { type ApiDocument, nameOfReference, resolve, type Schema } from "./document";
import { Prose } from "./Prose";
import style from "./SchemaTree.module.css";

const t = pageMessages.reference;

type Props = { document: ApiDocument; schema: Schema };

/** The members of a schema, each with type and description. Nested ones expand on click. */
export function SchemaTree({ document, schema }: Props) {
  const it = resolve<Schema>(document, schema);
  return (
    <div className={style.tree}>
      {it.description && (
        <p className={style.description}>
          <Prose text={it.description} />
        </p>
      )}
      <Members document={document} schema={it} />
    </div>
  );
}

/** The children of a schema: the members of an object, the elements of a list, the alternatives. */
function inner(
  document: ApiDocument,
  schema: Schema,
): { name: string; schema: Schema; isRequired: boolean }[] {
  const it = resolve<Schema>(document, schema);
  const required = it.required ?? [];
  const members = Object.entries(it.properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
    isRequired: required.includes(name),
  }));
  const parts = (it.allOf ?? []).flatMap((part) => inner(document, part));
  const choices = [...(it.oneOf ?? []), ...(it.anyOf ?? [])]
    .filter((choice) => resolve<Schema>(document, choice).type !== "null")
    .map((choice) => ({ name: "", schema: choice, isRequired: false }));
  const others =
    typeof it.additionalProperties === "object" && Object.keys(it.additionalProperties).length > 0
      ? [{ name: t.otherMembers, schema: it.additionalProperties, isRequired: false }]
      : [];
  const own = [...members, ...parts, ...others, ...choices];
  return own.length === 0 && it.items ? inner(document, it.items) : own;
}

function Members({ document, schema }: Props) {
  const members = inner(document, schema);
  if (members.length === 0) return <p className={style.description}>{typeOf(document, schema)}</p>;
  return (
    <ul className={style.members}>
      {members.map((member, index) => (
        <Member key={`${member.name} ${index}`} document={document} {...member} />
      ))}
    </ul>
  );
}

type MemberProps = Props & { name: string; isRequired: boolean };

function Member({ document, name, schema, isRequired }: MemberProps) {
  const [isOpen, setOpen] = useState(false);
  const it = resolve<Schema>(document, schema);
  const hasInner = inner(document, schema).length > 0;
  const line = (
    <>
      {name !== "" && <code className={style.name}>{name}</code>}
      <span className={style.type}>{typeOf(document, schema)}</span>
      {isRequired && <span className={style.required}>{t.required}</span>}
    </>
  );
  return (
    <li>
      {hasInner ? (
        <Button className={style.line ?? ""} aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          <ChevronRight size={14} aria-hidden className={isOpen ? style.open : ""} />
          {line}
        </Button>
      ) : (
        <div className={`${style.line} ${style.leaf}`}>{line}</div>
      )}
      <p className={style.about}>
        <Prose text={[it.description, limits(it)].filter(Boolean).join(" ")} />
      </p>
      {isOpen && (
        <div className={style.nested}>
          <Members document={document} schema={schema} />
        </div>
      )}
    </li>
  );
}

/** The type in words: "list of text". */
export function typeOf(document: ApiDocument, schema: Schema, depth = 0): string {
  const it = resolve<Schema>(document, schema);
  if (it.const !== undefined) return t.only(literal(it.const, JSON_SYNTAX));
  const choices = [...(it.oneOf ?? []), ...(it.anyOf ?? [])];
  if (choices.length > 0 && schema.$ref) return nameOfReference(schema) ?? t.anything;
  if (choices.length > 0 && depth < 3) {
    return [...new Set(choices.map((choice) => typeOf(document, choice, depth + 1)))].join(t.or);
  }
  const [value] = it.enum ?? [];
  const inferred = it.properties ? ["object"] : value === undefined ? [] : [typeof value];
  const types = Array.isArray(it.type) ? it.type : it.type ? [it.type] : inferred;
  if (types.length === 0) return nameOfReference(schema) ?? t.anything;
  const named = types.map((type) => {
    if (type === "array")
      return t.listOf(it.items && depth < 3 ? typeOf(document, it.items, depth + 1) : t.anything);
    if (type === "object") return nameOfReference(schema) ?? type;
    return it.format ? `${type} (${it.format})` : type;
  });
  return named.join(t.or);
}

/** The allowed values, as a sentence. */
export function limits(schema: Schema): string {
  const values = schema.enum ?? schema["x-extensible-enum"];
  const from = schema.minimum ?? schema.minLength ?? schema.minItems;
  const to = schema.maximum ?? schema.maxLength ?? schema.maxItems;
  const unit = schema.minLength ?? schema.maxLength;
  const elements = schema.minItems ?? schema.maxItems;
  const of = unit !== undefined ? "characters" : elements !== undefined ? "elements" : "value";
  return [
    values ? t.values(values.map((value) => literal(value, JSON_SYNTAX)).join(", ")) : "",
    from !== undefined || to !== undefined ? t.range(from, to, of) : "",
    schema.default !== undefined ? t.defaultIs(literal(schema.default, JSON_SYNTAX)) : "",
  ]
    .filter(Boolean)
    .join(" ");
}
