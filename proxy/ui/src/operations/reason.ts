/** Why a record could not be embedded. */
import { parseJson } from "../api/json";
import { asSentence } from "../api/problem";

/** "HTTP 400: {"error": {"message": "too long"}}" becomes "Too long (HTTP 400)." Other text stays unchanged. */
export function reasonText(error: string): string {
  const [, status, body = ""] = /^(HTTP \d+): (\{.*)$/s.exec(error) ?? [];
  const message = messageOf(body);
  if (status === undefined || message === undefined) return asSentence(error);
  return asSentence(`${message.replace(/[.\s]+$/, "")} (${status})`);
}

/** The message in a provider's response body: `{error: {message}}`, `{error}` or `{message}`. */
function messageOf(body: string): string | undefined {
  try {
    const { error, message = error } = parseJson(body) as Record<string, unknown>;
    const inner = typeof error === "object" && error !== null && "message" in error ? error.message : message;
    return typeof inner === "string" && inner.trim() !== "" ? inner : undefined;
  } catch {
    return undefined;
  }
}
