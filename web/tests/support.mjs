// What the tests of the page share: the simulator in node, the digests on record, a server.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { build } from "esbuild";

export const root = join(import.meta.dirname, "../..");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");

/** Of Chromium: no sandbox, no graphics processor, no request of its own. */
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-sync",
  "--disable-background-networking",
  "--disable-component-update",
];

/** What axe-core finds wrong with a page whose parts are all unfolded; its context bypasses the
 *  page's policy for scripts. */
export async function violations(page) {
  await page.evaluate(() =>
    document.querySelectorAll("details").forEach((one) => (one.open = true)),
  );
  await page.addScriptTag({ path: createRequire(import.meta.url).resolve("axe-core/axe.min.js") });
  const found = await page.evaluate(() => window.axe.run());
  return found.violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => node.target).join("; ")}`,
  );
}

/** A module of the page. */
export async function module(name) {
  const out = await build({
    entryPoints: [join(root, `web/src/${name}.ts`)],
    bundle: true,
    write: false,
    format: "esm",
  });
  return import(`data:text/javascript,${encodeURIComponent(out.outputFiles[0].text)}`);
}

/** The simulator, as web/src/simulator.ts has it. */
export async function simulator() {
  const bytes = await readFile(join(target, "web/sojourn.wasm"));
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const { memory, input, call, output } = instance.exports;
  return (request) => {
    const text = new TextEncoder().encode(JSON.stringify(request));
    const place = input(text.length);
    new Uint8Array(memory.buffer, place, text.length).set(text);
    const length = call();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, output(), length)));
  };
}

/** The recording that the digests of cellular scenarios are of: that of
 *  crates/sim/tests/fingerprints.rs. */
function recording() {
  const times = Array.from({ length: 1500 }, (_, i) => 20 + 10 * Math.floor(i / 3) + 17 * (i % 7));
  return times
    .sort((a, b) => a - b)
    .map((ms) => `${ms}\n`)
    .join("");
}

/** Every digest on record: scenario, AQM, digest, and the setting that gives it. */
export async function fingerprints() {
  const lines = (await readFile(join(root, "testdata/fingerprints.txt"), "utf8"))
    .trim()
    .split("\n");
  const folder = join(root, "python/sojourn/scenarios");
  return Promise.all(
    lines.map(async (line) => {
      const [scenario, aqm, digest] = line.split(" ");
      const text = await readFile(join(folder, `${scenario}.toml`), "utf8");
      const names = [...text.matchAll(/file\s*=\s*"([^"]+)"/g)].map((found) => found[1]);
      const files = Object.fromEntries(names.map((name) => [name, recording()]));
      // The digests are of the first link by name, whatever the page would watch.
      const link = [...text.matchAll(/^\[links\.(\w+)\]/gm)].map((found) => found[1]).sort()[0];
      const setting = { text, longest_s: 30, files, link };
      if (aqm !== "as-shipped") setting.aqm = aqm;
      return { scenario, aqm, digest, setting };
    }),
  );
}

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".wasm": "application/wasm",
};

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** A server on the loopback interface. `answer` gives the type and the content that a request is
 *  for, or fails without one. */
async function listening(answer) {
  const server = createServer(async (request, response) => {
    try {
      const [type, content] = await answer(request, pathOf(request));
      response.writeHead(200, { "content-type": type });
      response.end(content);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

function pathOf(request) {
  return decodeURIComponent(new URL(request.url, "http://localhost").pathname);
}

async function fileOf(path) {
  return [TYPES[extname(path)] ?? "text/plain", await readFile(path)];
}

/** Serves a folder with the folders in it on the loopback interface. */
export function serveFolder(folder) {
  return listening((_, path) =>
    fileOf(join(folder, normalize(path.endsWith("/") ? `${path}index.html` : path))),
  );
}

/** Serves the page on the loopback interface, and `more`: a type and a text by name, or what takes
 *  the text that is posted there. */
export function serve(more = {}) {
  const folder = join(root, "python/sojourn/live/page");
  return listening(async (request, path) => {
    const name = path.slice(1) || "index.html";
    if (!/^[\w.-]+$/.test(name)) throw new Error("not a file of the page");
    const own = more[name];
    if (typeof own === "function") {
      own(await bodyOf(request));
      return ["text/plain", ""];
    }
    return own ?? fileOf(join(folder, name));
  });
}
