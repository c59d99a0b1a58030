// Bundles the page into python/sojourn/live/page, where the wheel has it:
// index.html, main.js, main.css, worker.js, sojourn.wasm.
//
//     node web/build.mjs

import { copyFile, mkdir, readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = import.meta.dirname;
const out = join(here, "../python/sojourn/live/page");
const target = process.env.CARGO_TARGET_DIR ?? join(here, "../target");
const LARGEST_GZIPPED_BYTES = 1_000_000;

await rm(out, { recursive: true, force: true });
await mkdir(out);
await build({
  entryPoints: [join(here, "src/main.ts"), join(here, "src/worker.ts")],
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["firefox115", "chrome115", "safari16.4"],
  loader: { ".toml": "text" },
  logLevel: "warning",
});
await copyFile(join(here, "src/index.html"), join(out, "index.html"));
await copyFile(join(target, "web/sojourn.wasm"), join(out, "sojourn.wasm"));
let sum = 0;
for (const name of (await readdir(out)).sort()) {
  const bytes = await readFile(join(out, name));
  const packed = gzipSync(bytes, { level: 9 }).length;
  sum += packed;
  console.log(`${name} ${bytes.length} B, ${packed} B gzipped`);
}
console.log(`together ${sum} B gzipped`);
if (sum > LARGEST_GZIPPED_BYTES) {
  console.error(`the page is larger than ${LARGEST_GZIPPED_BYTES} B`);
  process.exit(1);
}
