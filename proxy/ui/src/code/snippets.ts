/** Renders a request as equivalent code: curl, SQL, Python, JavaScript. */
import { JAVASCRIPT, JSON_SYNTAX, literal, losesDigits, PYTHON, quoted } from "./literal";
import { type ApiRequest, addressOf, queryOf } from "./request";
import { sqlOf } from "./sql";

export type Language = "curl" | "sql" | "python" | "javascript";

/** The environment variable from which the code reads the key, unless the code contains the key. */
export const KEY_VARIABLE = "KEYED_API_KEY";

type Options = {
  /** The address of the service: "https://keyed.example". */
  base: string;
  /** The key to include; without it, the code reads the environment variable. */
  key?: string | null;
};

export function snippet(language: Language, request: ApiRequest, options: Options): string | null {
  if (language === "sql") return sqlOf(request);
  if (language === "curl") return curl(request, options);
  return language === "python" ? python(request, options) : javascript(request, options);
}

/** Quotes a word for a Unix shell. */
const inShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** All headers except the key's. */
function headers(request: ApiRequest, withJson: boolean): [string, string][] {
  return [
    ...(request.project ? [["X-Service-Project-Id", request.project] as [string, string]] : []),
    ...(withJson && request.body !== undefined
      ? [["Content-Type", "application/json"] as [string, string]]
      : []),
    ...(request.text ? [["Content-Type", request.text.type] as [string, string]] : []),
    ...Object.entries(request.headers ?? {}),
  ];
}

function curl(request: ApiRequest, { base, key }: Options): string {
  const lines = [inShell(addressOf(base, request))];
  const method =
    request.method === "POST" && (request.body !== undefined || request.text) ? "GET" : request.method;
  if (method !== "GET") lines.unshift(`-X ${request.method}`);
  if (!request.isOpen) {
    lines.push(
      key ? `-H ${inShell(`Authorization: Bearer ${key}`)}` : `-H "Authorization: Bearer $${KEY_VARIABLE}"`,
    );
  }
  for (const [name, value] of headers(request, true)) lines.push(`-H ${inShell(`${name}: ${value}`)}`);
  if (request.body !== undefined) lines.push(`-d ${inShell(literal(request.body, JSON_SYNTAX))}`);
  // Not `--data-binary`, which would send the file that text after `@` names.
  if (request.text) lines.push(`--data-raw ${inShell(request.text.content)}`);
  return `curl ${lines.join(" \\\n  ")}`;
}

function python(request: ApiRequest, { base, key }: Options): string {
  const isExact = losesDigits(request.body, true);
  const named = headers(request, isExact).map(([name, value]) => `${quoted(name)}: ${quoted(value)}`);
  const secret = key ? quoted(`Bearer ${key}`) : `f"Bearer {os.environ['${KEY_VARIABLE}']}"`;
  if (!request.isOpen) named.unshift(`"Authorization": ${secret}`);
  const given = [quoted(base + request.path)];
  if (named.length > 0) given.push(`headers={\n        ${named.join(",\n        ")},\n    }`);
  const query = queryOf(request);
  if (query.length > 0) given.push(`params=${literal(Object.fromEntries(query), PYTHON, 1)}`);
  if (request.body !== undefined) {
    given.push(
      isExact
        ? `data=${quoted(literal(request.body, JSON_SYNTAX))}.encode()`
        : `json=${literal(request.body, PYTHON, 1)}`,
    );
  }
  if (request.text) given.push(`data=${quoted(request.text.content)}.encode()`);
  const hasBody = request.method !== "DELETE";
  return [
    ...(key || request.isOpen ? [] : ["import os", ""]),
    "import requests",
    "",
    `response = requests.${request.method.toLowerCase()}(`,
    ...given.map((line) => `    ${line},`),
    ")",
    "response.raise_for_status()",
    hasBody ? "print(response.json())" : "print(response.status_code)",
  ].join("\n");
}

function javascript(request: ApiRequest, { base, key }: Options): string {
  const isExact = losesDigits(request.body, false);
  const named = headers(request, true).map(([name, value]) => `${JAVASCRIPT.member(name)}: ${quoted(value)}`);
  const secret = key ? quoted(`Bearer ${key}`) : `\`Bearer \${process.env.${KEY_VARIABLE}}\``;
  if (!request.isOpen) named.unshift(`Authorization: ${secret}`);
  const given = [
    ...(request.method === "GET" ? [] : [`method: ${quoted(request.method)}`]),
    ...(named.length > 0 ? [`headers: {\n    ${named.join(",\n    ")},\n  }`] : []),
  ];
  if (request.body !== undefined) {
    given.push(
      isExact
        ? `body: ${quoted(literal(request.body, JSON_SYNTAX))}`
        : `body: JSON.stringify(${literal(request.body, JAVASCRIPT, 1)})`,
    );
  }
  if (request.text) given.push(`body: ${quoted(request.text.content)}`);
  const options = given.length > 0 ? `, {\n${given.map((line) => `  ${line},`).join("\n")}\n}` : "";
  return [
    `const response = await fetch(${quoted(addressOf(base, request))}${options});`,
    "if (!response.ok) throw new Error(await response.text());",
    request.method === "DELETE" ? "console.log(response.status);" : "console.log(await response.json());",
  ].join("\n");
}
