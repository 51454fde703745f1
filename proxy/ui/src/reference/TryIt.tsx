import { useState } from "react";
import { send } from "../api/client";
import { parseJson } from "../api/json";
import { JSON_SYNTAX, literal } from "../code/literal";
import { type ApiRequest, addressOf } from "../code/request";
import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { Confirm } from "../components/Confirm";
import { TextField } from "../components/Field";
import { Failure } from "../components/Notice";
import { Tag } from "../components/Tag";
import { pageMessages } from "../language/pages";
import { number } from "../language/plural";
import { useSession } from "../session/session";
import { isReading, type Operation } from "./document";
import style from "./Operation.module.css";

const t = pageMessages.reference;
/** The maximum length of a response that is shown. The rest, for example of an export, is discarded. */
const MAX_SHOWN = 100_000;

type ShownResponse = {
  status: number;
  statusText: string;
  milliseconds: number;
  headers: [string, string][];
  text: string;
  isCut: boolean;
};

/** The text of a response up to a length. The rest is not read. */
async function beginning(response: Response): Promise<{ text: string; isCut: boolean }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += part.value;
    if (text.length > MAX_SHOWN) {
      await reader?.cancel();
      return { text: text.slice(0, MAX_SHOWN), isCut: true };
    }
  }
  return { text, isCut: false };
}

function pretty({ text, isCut }: { text: string; isCut: boolean }, type: string): string {
  if (isCut || !type.includes("json") || type.includes("ndjson")) return text;
  try {
    return literal(parseJson(text), JSON_SYNTAX);
  } catch {
    return text;
  }
}

async function run(request: ApiRequest, key: string): Promise<ShownResponse> {
  const headers = new Headers(request.headers);
  if (request.project) headers.set("X-Service-Project-Id", request.project);
  if (key !== "") headers.set("Authorization", `Bearer ${key}`);
  if (request.body !== undefined) headers.set("Content-Type", "application/json");
  if (request.text) headers.set("Content-Type", request.text.type);
  const body = request.body === undefined ? request.text?.content : literal(request.body, JSON_SYNTAX);
  const start = performance.now();
  const response = await send(
    new Request(addressOf(window.location.origin, request), {
      method: request.method,
      headers,
      cache: "no-store",
      ...(body === undefined ? {} : { body }),
    }),
  );
  const read = await beginning(response);
  return {
    status: response.status,
    statusText: response.statusText,
    milliseconds: performance.now() - start,
    headers: [...response.headers],
    text: pretty(read, response.headers.get("content-type") ?? ""),
    isCut: read.isCut,
  };
}

type Props = { operation: Operation; request: ApiRequest; problem: string | undefined };

/** Sends the request to this server and shows the response. Writes ask for confirmation. */
export function TryIt({ operation, request, problem }: Props) {
  const session = useSession();
  const [key, setKey] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [response, setResponse] = useState<ShownResponse>();
  const [error, setError] = useState<unknown>();
  const needsKey = session.key === null && !operation.isOpen;

  async function start() {
    setBusy(true);
    setError(undefined);
    try {
      setResponse(await run(request, needsKey ? key.trim() : ""));
    } catch (rejection) {
      setError(rejection);
    } finally {
      setBusy(false);
    }
  }
  return (
    <div className={style.tryIt}>
      {needsKey && (
        <TextField
          label={t.key}
          hint={t.keyHint}
          type="password"
          autoComplete="off"
          isCode
          value={key}
          onChange={setKey}
        />
      )}
      <div className={style.send}>
        <Button
          kind="main"
          isPending={isBusy}
          isDisabled={problem !== undefined || (needsKey && key.trim() === "")}
          onPress={() => (isReading(operation) ? start() : setAsking(true))}
        >
          {t.send}
        </Button>
        <span className={style.quiet}>{problem}</span>
      </div>
      {isAsking && (
        <Confirm
          title={t.writes(request.method, request.path)}
          action={t.send}
          isDanger={request.method === "DELETE"}
          run={start}
          onClose={() => setAsking(false)}
        >
          {t.writesLead}
        </Confirm>
      )}
      {error !== undefined && <Failure error={error} />}
      {response && <ResponseView response={response} />}
    </div>
  );
}

function ResponseView({ response }: { response: ShownResponse }) {
  const status = [response.status, response.statusText].filter(Boolean).join(" ");
  return (
    <div className={style.answered} role="status">
      <p>
        <Tag kind={response.status < 300 ? "good" : response.status < 400 ? "plain" : "bad"}>{status}</Tag>{" "}
        <span className={style.quiet}>{t.duration(number(Math.round(response.milliseconds)))}</span>
      </p>
      {response.isCut && <p className={style.quiet}>{t.tooLong(number(MAX_SHOWN))}</p>}
      {response.text === "" ? (
        <p className={style.quiet}>{t.emptyResponse}</p>
      ) : (
        <Code text={response.text} what={t.responseBody} isBlock />
      )}
      <details>
        <summary>{t.headers}</summary>
        <dl className={style.headers}>
          {response.headers.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}
