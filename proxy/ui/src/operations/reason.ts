/** Why a text could not be embedded. */
import { parseJson } from "../api/json";
import { asSentence } from "../api/problem";

/** "HTTP 400: {"error": {"message": "too long"}}" is "Too long (HTTP 400)." Other text stays as it is. */
export function reasonInWords(error: string): string {
  const [, status, body = ""] = /^(HTTP \d+): (\{.*)$/s.exec(error) ?? [];
  const message = messageOf(body);
  if (status === undefined || message === undefined) return asSentence(error);
  return asSentence(`${message.replace(/[.\s]+$/, "")} (${status})`);
}

/** The sentence in the body of a provider: `{error: {message}}`, `{error}` or `{message}`. */
function messageOf(body: string): string | undefined {
  try {
    const { error, message = error } = parseJson(body) as Record<string, unknown>;
    const inner = typeof error === "object" && error !== null && "message" in error ? error.message : message;
    return typeof inner === "string" && inner.trim() !== "" ? inner : undefined;
  } catch {
    return undefined;
  }
}
