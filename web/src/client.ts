// The page's side of the worker: a promise for each request.

import { unpacked } from "./packed";
import type { Answer, Refusal, Request } from "./protocol";
import type {} from "./start";

export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.place ? `${refusal.place}: ${refusal.message}` : refusal.message);
  }
}

/** A part embedded in the single-file page, which opens from disk; null in the served page. */
function inlined(part: string): string | null {
  return document.getElementById(`inlined-${part}`)?.textContent ?? null;
}

/** A separate worker for each client; start.ts has already started the first. */
function newWorker(): Worker {
  const text = inlined("worker");
  if (text !== null) {
    // A module has no origin if the page is opened from disk.
    return new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  }
  const early = globalThis.earlyWorker;
  globalThis.earlyWorker = undefined;
  return early ?? new Worker("worker.js", { type: "module" });
}

export class Client {
  private readonly worker = newWorker();
  private readonly ready: Promise<void>;
  private readonly waiting = new Map<number, (answer: Answer<unknown>) => void>();
  private sent = 0;

  constructor() {
    this.ready = this.bringSimulator();
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

  /** Sends a request; rejects with `Refused`. */
  ask<T>(request: Request): Promise<T> {
    this.sent += 1;
    const id = this.sent;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, (answer) => {
        if (answer.error) reject(new Refused(answer.error));
        else resolve(answer.ok as T);
      });
      void this.ready.then(() => this.worker.postMessage({ id, request }));
    });
  }

  /** Sends the simulator to the worker if the page embeds it; otherwise the worker fetches it. */
  private async bringSimulator(): Promise<void> {
    const packed = inlined("simulator");
    if (packed === null) return;
    const simulator = await unpacked(packed).arrayBuffer();
    this.worker.postMessage({ simulator }, [simulator]);
  }
}
