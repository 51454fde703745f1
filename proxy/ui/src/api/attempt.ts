/**
 * A write that must have one effect, such as creating a record or adding an amount.
 *
 * The service runs it once under its `Idempotency-Key`. Without a response, or with an unknown outcome, it is sent again
 * under the same key. A rejected attempt keeps its key, too, because the service does not store rejections.
 */
import { useState } from "react";
import { RequestError } from "./problem";

const newName = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export class Attempt {
  private name = newName();
  private isPending = false;

  /** What is to be written is not what was sent: this is another attempt. */
  renew() {
    this.name = newName();
  }

  /**
   * Sends what is to be written under its name. After success, the next is another attempt.
   * @returns null if it is under way already; nothing is sent then.
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

/** The attempt of a component, which lives as long as that. */
export const useAttempt = (): Attempt => useState(() => new Attempt())[0];
