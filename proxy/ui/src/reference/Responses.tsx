import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button } from "react-aria-components";
import { JSON_SYNTAX, literal } from "../code/literal";
import { Code } from "../components/Code";
import { Section } from "../components/Page";
import { pageMessages } from "../language/pages";
import { type ApiDocument, type ApiResponse, type Header, type Operation, resolve } from "./document";
import { exampleOfContent } from "./example";
import style from "./Operation.module.css";
import { Prose } from "./Prose";
import { SchemaTree } from "./SchemaTree";

const t = pageMessages.reference;

/** The responses of an operation, including errors. */
export function Responses({ document, operation }: { document: ApiDocument; operation: Operation }) {
  const isError = (status: string) => status === "default" || Number(status) >= 400;
  const part = (title: string, errors: boolean) => {
    const responses = operation.responses.filter(([status]) => isError(status) === errors);
    if (responses.length === 0) return null;
    return (
      <Section title={title}>
        <ul className={style.answers}>
          {responses.map(([status, response]) => (
            <ResponseItem key={status} document={document} status={status} response={response} />
          ))}
        </ul>
      </Section>
    );
  };
  return (
    <>
      {part(t.responses, false)}
      {part(t.errors, true)}
    </>
  );
}

type ItemProps = { document: ApiDocument; status: string; response: ApiResponse };

function ResponseItem({ document, status, response }: ItemProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <Button className={style.answer ?? ""} aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        <ChevronRight size={14} aria-hidden className={isOpen ? style.open : ""} />
        <code>{status === "default" ? t.statusOfDefault : status}</code>
        <span>
          <Prose text={response.description ?? ""} />
        </span>
      </Button>
      {isOpen && <ResponseBody document={document} response={response} />}
    </li>
  );
}

function ResponseBody({ document, response }: { document: ApiDocument; response: ApiResponse }) {
  const content = response.content ?? {};
  const headers = Object.entries(response.headers ?? {});
  return (
    <div className={style.answerBody}>
      {headers.length > 0 && (
        <dl className={style.headers}>
          {headers.map(([name, header]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Prose text={resolve<Header>(document, header).description ?? ""} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {Object.keys(content).length === 0 && <p className={style.quiet}>{t.noBody}</p>}
      {Object.entries(content).map(([type, { schema }]) => {
        const example = type.endsWith("json") ? exampleOfContent(document, content, type) : undefined;
        return (
          <div key={type} className={style.answerBody}>
            <p className={style.quiet}>{type}</p>
            {schema && <SchemaTree document={document} schema={schema} />}
            {example !== undefined && example !== null && (
              <Code text={literal(example, JSON_SYNTAX)} what={t.example} isBlock />
            )}
          </div>
        );
      })}
    </div>
  );
}
