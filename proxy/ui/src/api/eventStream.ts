/** Server-Sent Events, read from the text of a response as it arrives. */

export type StreamEvent = { type: string; data: string };

export class EventReader {
  /** The id after what was read, with which a client connects again. */
  id: string | null = null;
  /** The pause in milliseconds that the service asks for before a client connects again. */
  retry: number | null = null;
  private rest = "";
  private type = "";
  private data: string[] = [];
  private nextId: string | null = null;

  /** The events that this part of the text completes. */
  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    // A carriage return at the end may be the first half of a line end.
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
