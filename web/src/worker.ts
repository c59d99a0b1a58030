// The simulator in a worker, so that the page never waits for it.

import type { Request } from "./protocol";
import { load } from "./simulator";

const scope = self as unknown as Worker;

async function simulator(): Promise<Awaited<ReturnType<typeof load>>> {
  const response = await fetch("sojourn.wasm");
  if (!response.ok) throw new Error(`sojourn.wasm: ${response.status} ${response.statusText}`);
  return load(await response.arrayBuffer());
}

const ready = simulator();

scope.onmessage = async (event: MessageEvent<{ id: number; request: Request }>) => {
  const { id, request } = event.data;
  try {
    scope.postMessage({ id, answer: (await ready)(request) });
  } catch (failure) {
    const message = `the simulator failed: ${(failure as Error).message}`;
    scope.postMessage({ id, answer: { error: { place: "", line: null, message } } });
  }
};
