import { Link2 } from "lucide-react";
import { useState } from "react";
import { parseJson } from "../api/json";
import { sentence } from "../api/problem";
import type { Template } from "../api/queries";
import { JSON_SYNTAX, literal } from "../code/literal";
import { TextField } from "../components/Field";
import { Section } from "../components/Page";
import { RequiredNote } from "../components/Required";
import { Select } from "../components/Select";
import { pageMessages } from "../language/pages";
import { useSession } from "../session/session";
import { type ApiDocument, type Operation, type Parameter, resolve, type Schema } from "./document";
import { exampleOfContent } from "./example";
import { fillExample, initialValues, requestOf, type Values, valueId } from "./fill";
import style from "./Operation.module.css";
import { Prose } from "./Prose";
import { Responses } from "./Responses";
import { SchemaTree } from "./SchemaTree";
import { Snippets } from "./Snippets";
import { TryIt } from "./TryIt";

const t = pageMessages.reference;

type Props = {
  document: ApiDocument;
  operation: Operation;
  project: string | null;
  template: Template | undefined;
};

function initialBody({ document, operation, template }: Props, type: string): string {
  if (!operation.body) return "";
  if (type === "text/csv") return "external_key,name\nerp:4711,Ada\n";
  if (type.includes("ndjson")) return '{"external_key": "erp:4711", "attributes": {"name": "Ada"}}\n';
  const example = exampleOfContent(document, operation.body.content, type);
  return example === undefined ? "" : literal(fillExample(example, template), JSON_SYNTAX);
}

function readBody(type: string, text: string) {
  if (type !== "application/json") return { body: { type, text } };
  if (text.trim() === "") return { body: null };
  try {
    return { body: { type, json: parseJson(text) } };
  } catch (error) {
    return { body: { type, text }, problem: t.notJson(sentence(error)) };
  }
}

/** One operation: its parameters and responses, its request as code, and a form to try it on this server. */
export function OperationView(props: Props) {
  const { document, operation, project, template } = props;
  const { key } = useSession();
  const types = Object.keys(operation.body?.content ?? {});
  const [type, setType] = useState(types[0] ?? "");
  const [text, setText] = useState(() => initialBody(props, type));
  const [values, setValues] = useState<Values>(() => initialValues(operation, project, template?.slug));
  const { body, problem } = operation.body ? readBody(type, text) : { body: null, problem: undefined };
  const request = requestOf(operation, values, body);
  const missing = operation.parameters.find((it) => it.required && !values[valueId(it)]);
  const changeType = (next: string) => {
    setType(next);
    setText(initialBody(props, next));
  };
  return (
    <article className={style.operation} aria-labelledby="operation">
      <header className={style.title}>
        <h1 id="operation">
          {operation.summary}
          <a href={`#${operation.id}`} className={style.link} aria-label={t.linkTo(operation.summary)}>
            <Link2 size={16} aria-hidden />
          </a>
        </h1>
        <p className={style.address}>
          <strong>{operation.method}</strong> {operation.path}
        </p>
        {operation.description && (
          <p className={style.lead}>
            <Prose text={operation.description} />
          </p>
        )}
        {operation.isOpen && <p className={style.lead}>{t.open}</p>}
      </header>
      <div className={style.columns}>
        <div className={style.column}>
          {operation.parameters.length > 0 && (
            <Section title={t.parameters}>
              <div className={style.parameters}>
                {operation.parameters.map((it) => (
                  <ParameterField
                    key={valueId(it)}
                    document={document}
                    parameter={it}
                    value={values[valueId(it)] ?? ""}
                    onChange={(value) => setValues({ ...values, [valueId(it)]: value })}
                  />
                ))}
                {operation.parameters.some(({ required }) => required) && <RequiredNote />}
              </div>
            </Section>
          )}
          {operation.body && (
            <Section title={t.body}>
              {types.length > 1 && (
                <Select
                  label={t.contentType}
                  choices={types.map((it) => ({ id: it, label: it }))}
                  value={type}
                  onChange={changeType}
                />
              )}
              {operation.body.description && (
                <p className={style.lead}>
                  <Prose text={operation.body.description} />
                </p>
              )}
              <SchemaTree document={document} schema={operation.body.content[type]?.schema ?? {}} />
            </Section>
          )}
          <Responses document={document} operation={operation} />
        </div>
        <div className={style.aside}>
          <Section title={t.tryIt} lead={leadOf(operation, key !== null)}>
            {operation.body && (
              <TextField
                label={t.body}
                isCode
                rows={Math.min(16, Math.max(4, text.split("\n").length))}
                value={text}
                onChange={setText}
                error={problem}
                spellCheck="false"
              />
            )}
            <TryIt
              operation={operation}
              request={request}
              problem={problem ?? (missing && t.missing(missing.name))}
            />
          </Section>
          <Section title={t.code}>
            <Snippets request={request} />
          </Section>
        </div>
      </div>
    </article>
  );
}

function leadOf(operation: Operation, isSignedIn: boolean): string {
  if (operation.isOpen) return t.tryItLeadOpen;
  return isSignedIn ? t.tryItLead : t.tryItLeadSignedOut;
}

type FieldProps = {
  document: ApiDocument;
  parameter: Parameter;
  value: string;
  onChange: (value: string) => void;
};

function ParameterField({ document, parameter, value, onChange }: FieldProps) {
  const schema = resolve<Schema>(document, parameter.schema ?? {});
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  const listed = choices ?? (schema.type === "boolean" ? [true, false] : undefined);
  const label = `${parameter.name} · ${t.in[parameter.in]}`;
  const isRequired = parameter.required === true;
  if (listed) {
    const options = [
      { id: "", label: t.notSet },
      ...listed.map((it) => ({ id: String(it), label: String(it) })),
    ];
    return (
      <div className={style.parameter}>
        <Select label={label} isRequired={isRequired} choices={options} value={value} onChange={onChange} />
        {parameter.description && (
          <p className={style.quiet}>
            <Prose text={parameter.description} />
          </p>
        )}
      </div>
    );
  }
  return (
    <TextField
      label={label}
      isRequired={isRequired}
      hint={parameter.description && <Prose text={parameter.description} />}
      placeholder={parameter.example === undefined ? "" : String(parameter.example)}
      isCode
      value={value}
      onChange={onChange}
      autoComplete="off"
      spellCheck="false"
    />
  );
}
