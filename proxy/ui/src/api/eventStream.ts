/** Parses Server-Sent Events from the text of a response as it arrives. */

export type StreamEvent = { type: string; data: string };

export class EventReader {
  /** The id of the last event, to send when reconnecting. */
  id: string | null = null;
  /** The delay in milliseconds that the service requests before a reconnect. */
  retry: number | null = null;
  private rest = "";
  private type = "";
  private data: string[] = [];
  private nextId: string | null = null;

  /** The events that this chunk of text completes. */
  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    // A carriage return at the end may be the first half of a CRLF.
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") this.take(line);
      else this.end(events);
    }
    return events;
  }

  private take(line: string) {
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "event") this.type = value;
    else if (name === "data") this.data.push(value);
    else if (name === "id" && !value.includes("\0")) this.nextId = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
  }

  private end(events: StreamEvent[]) {
    this.id = this.nextId ?? this.id;
    if (this.data.length > 0) events.push({ type: this.type || "message", data: this.data.join("\n") });
    this.type = "";
    this.data = [];
  }
}
