// The simulator in a worker, so that the page never waits for it.

import type { Request } from "./protocol";
import { type Call, load } from "./simulator";

const scope = self as unknown as Worker & { location: Location };

async function fetched(): Promise<Call> {
  const response = await fetch("sojourn.wasm");
  if (!response.ok) throw new Error(`sojourn.wasm: ${response.status} ${response.statusText}`);
  return load(response);
}

/** The single-file page, whose worker is a blob, sends the simulator first. */
let ready: Promise<Call> | null = scope.location.protocol === "blob:" ? null : fetched();
ready?.catch(() => undefined); // every caller gets the error

type Message = { simulator: ArrayBuffer } | { id: number; request: Request };

scope.onmessage = async ({ data }: MessageEvent<Message>) => {
  if ("simulator" in data) {
    ready = load(data.simulator);
    return;
  }
  const { id, request } = data;
  try {
    if (!ready) throw new Error("the page has not sent it");
    scope.postMessage({ id, answer: (await ready)(request) });
  } catch (failure) {
    const message = `the simulator failed: ${(failure as Error).message}`;
    scope.postMessage({ id, answer: { error: { place: "", line: null, message } } });
  }
};
