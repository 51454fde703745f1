/**
 * A write that must take effect once, such as creating a record or adding an amount.
 *
 * The service runs it once per `Idempotency-Key`. If the response is missing or the outcome unknown, it is sent again
 * with the same key. A rejected attempt also keeps its key, because the service does not store rejections.
 */
import { useState } from "react";
import { RequestError } from "./problem";

const newName = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export class Attempt {
  private name = newName();
  private isPending = false;

  /** The content has changed, so the next request is another attempt. */
  renew() {
    this.name = newName();
  }

  /**
   * Sends the content with the key of the attempt. After success, the next call is another attempt.
   * @returns null without sending anything if a request is already in flight.
   */
  async send<T>(write: (name: string) => Promise<T>): Promise<T | null> {
    if (this.isPending) return null;
    this.isPending = true;
    try {
      const written = await write(this.name);
      this.renew();
      return written;
    } catch (error) {
      if (error instanceof RequestError && error.code === "idempotency_key_reused") this.renew();
      throw error;
    } finally {
      this.isPending = false;
    }
  }
}

/** An attempt that lives as long as its component. */
export const useAttempt = (): Attempt => useState(() => new Attempt())[0];
