// The simulator: WebAssembly behind one function from request to answer.

import type { Answer, Request } from "./protocol";

interface Exports {
  memory: WebAssembly.Memory;
  input(bytes: number): number;
  call(): number;
  output(): number;
}

export type Call = <T>(request: Request) => Answer<T>;

/** Starts the simulator; a stream from a server is compiled while it arrives. */
export async function load(source: BufferSource | Response): Promise<Call> {
  const { instance } =
    source instanceof Response
      ? await WebAssembly.instantiateStreaming(source)
      : await WebAssembly.instantiate(source);
  const simulator = instance.exports as unknown as Exports;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  return <T>(request: Request): Answer<T> => {
    const text = encoder.encode(JSON.stringify(request));
    const place = simulator.input(text.length);
    new Uint8Array(simulator.memory.buffer, place, text.length).set(text);
    const length = simulator.call();
    // The memory may have grown, which detaches older views of it.
    const answer = new Uint8Array(simulator.memory.buffer, simulator.output(), length);
    return JSON.parse(decoder.decode(answer)) as Answer<T>;
  };
}
