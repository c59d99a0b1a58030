// The package for npm: the simulator of web/src/simulator.ts with its WebAssembly.

import { load as start } from "../src/simulator";

/** Starts the simulator from `source`, or from the package's own WebAssembly. */
export async function load(source) {
  return start(source ?? (await ofThePackage(new URL("./sojourn.wasm", import.meta.url))));
}

async function ofThePackage(url) {
  if (url.protocol !== "file:") return fetch(url);
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}
