// Bundles the page into python/sojourn/live/page, where the wheel has it:
// index.html, start.js, main.js, main.css, worker.js, sojourn.wasm, and sojourn-live.html, which is
// all of them in one file that opens from disk. report.js and report.css are the reports' of `compare`,
// router.html, router.js and router.css the page of `sojourn router --live`.
//
//     node web/build.mjs

import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = import.meta.dirname;
const out = join(here, "../python/sojourn/live/page");
const target = process.env.CARGO_TARGET_DIR ?? join(here, "../target");
const OF_THE_PAGE = ["index.html", "start.js", "main.js", "main.css", "worker.js", "sojourn.wasm"];
const LARGEST_GZIPPED_BYTES = 1_000_000;

await rm(out, { recursive: true, force: true });
await mkdir(out);
await build({
  entryPoints: [
    join(here, "src/start.ts"),
    join(here, "src/main.ts"),
    join(here, "src/worker.ts"),
    join(here, "src/report.ts"),
    join(here, "src/router.ts"),
  ],
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["firefox115", "chrome115", "safari16.4"],
  loader: { ".toml": "text" },
  logLevel: "warning",
});
await copyFile(join(here, "src/index.html"), join(out, "index.html"));
await copyFile(join(here, "src/router.html"), join(out, "router.html"));
await copyFile(join(target, "web/sojourn.wasm"), join(out, "sojourn.wasm"));
await writeFile(join(out, "sojourn-live.html"), await inOneFile());
let sum = 0;
for (const name of (await readdir(out)).sort()) {
  const bytes = await readFile(join(out, name));
  const packed = gzipSync(bytes, { level: 9 }).length;
  if (OF_THE_PAGE.includes(name)) sum += packed;
  console.log(`${name} ${bytes.length} B, ${packed} B gzipped`);
}
console.log(`together ${sum} B gzipped`);
if (sum > LARGEST_GZIPPED_BYTES) {
  console.error(`the page is larger than ${LARGEST_GZIPPED_BYTES} B`);
  process.exit(1);
}

/** A browser loads neither workers nor WebAssembly from a disk: they are texts of the page here. */
async function inOneFile() {
  const text = async (name) =>
    (await readFile(join(out, name), "utf8")).replace(/<\/script/g, "<\\/script");
  // The program is named by its content: no other runs.
  const program = await text("main.js");
  const hash = createHash("sha256").update(program).digest("base64");
  const simulator = gzipSync(await readFile(join(out, "sojourn.wasm")), { level: 9 });
  const policy =
    `default-src 'none'; script-src 'sha256-${hash}' 'wasm-unsafe-eval'; worker-src blob:; ` +
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";
  const parts = [
    [/content="default-src [^"]*"/, `content="${policy}"`],
    [/<script src="start.js" async><\/script>/, ""],
    [/<link rel="stylesheet" href="main.css" \/>/, `<style>${await text("main.css")}</style>`],
    [
      /<script type="module" src="main.js"><\/script>/,
      `<script type="text/plain" id="inlined-worker">${await text("worker.js")}</script>\n` +
        `<script type="text/plain" id="inlined-simulator">${simulator.toString("base64")}</script>\n` +
        `<script type="module">${program}</script>`,
    ],
  ];
  let page = await readFile(join(here, "src/index.html"), "utf8");
  for (const [place, part] of parts) {
    if (!place.test(page)) throw new Error(`index.html has no ${place}`);
    page = page.replace(place, () => part);
  }
  return page;
}
