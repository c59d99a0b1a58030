// How large the page is, into the table of docs/how-to/browser.md whose other rows speed.mjs
// measures.
//
//     node web/tests/sizes.mjs       (after `make web`)

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./support.mjs";

const PAGE = join(root, "docs/how-to/browser.md");
const OF_THE_PAGE = ["index.html", "start.js", "main.js", "main.css", "worker.js"];

async function gzipped(...names) {
  const folder = join(root, "python/sojourn/live/page");
  const parts = await Promise.all(names.map((name) => readFile(join(folder, name))));
  return parts.reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
}

/** What a reader has to fetch, and its bytes. */
export async function sizes() {
  return [
    ["simulator, gzipped", await gzipped("sojourn.wasm")],
    ["page and its libraries, gzipped", await gzipped(...OF_THE_PAGE)],
  ];
}

/** The same as docs/how-to/browser.md has it. */
export async function sizesOnRecord() {
  const text = await readFile(PAGE, "utf8");
  const found = [...text.matchAll(/^\| (.*, gzipped) \| (\d+) kB \|$/gm)];
  return found.map(([, what, kB]) => [what, 1000 * Number(kB)]);
}

if (process.argv[1] === import.meta.filename) {
  let text = await readFile(PAGE, "utf8");
  for (const [what, bytes] of await sizes()) {
    const row = new RegExp(`^\\| ${what} \\| .*$`, "m");
    text = text.replace(row, `| ${what} | ${(bytes / 1000).toFixed(0)} kB |`);
  }
  await writeFile(PAGE, text);
}
