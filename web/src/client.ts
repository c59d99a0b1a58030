// The page's side of the worker: a promise for each request.

import type { Answer, Refusal, Request } from "./protocol";

export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.place ? `${refusal.place}: ${refusal.message}` : refusal.message);
  }
}

export class Client {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, (answer: Answer<unknown>) => void>();
  private sent = 0;

  constructor(script: string) {
    this.worker = new Worker(script, { type: "module" });
    this.worker.onmessage = (event: MessageEvent<{ id: number; answer: Answer<unknown> }>) => {
      const { id, answer } = event.data;
      this.waiting.get(id)?.(answer);
      this.waiting.delete(id);
    };
    this.worker.onerror = (event) => {
      const message = `the worker failed: ${event.message || "it could not be loaded"}`;
      for (const answer of this.waiting.values()) {
        answer({ error: { place: "", line: null, message } });
      }
      this.waiting.clear();
    };
  }

  /** Asks for something; rejects with `Refused`. */
  ask<T>(request: Request): Promise<T> {
    this.sent += 1;
    const id = this.sent;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, (answer) => {
        if (answer.error) reject(new Refused(answer.error));
        else resolve(answer.ok as T);
      });
      this.worker.postMessage({ id, request });
    });
  }
}
