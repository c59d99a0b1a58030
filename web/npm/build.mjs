// Packs the simulator for npm: out/npm/sojourn-simulator-VERSION.tgz. Needs `make web`.
//
//     node web/npm/build.mjs [FOLDER]

import { spawnSync } from "node:child_process";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;
const root = join(here, "../..");
const out = process.argv[2] ?? join(root, "out/npm");
const staged = join(out, "package");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");

function run(program, ...words) {
  const { status, error } = spawnSync(program, words, { stdio: ["ignore", "ignore", "inherit"] });
  if (error || status !== 0) throw new Error(`${program} ${words.join(" ")}: ${error ?? status}`);
}

/** Replaces what must occur once. */
function replaced(text, from, to) {
  if (text.split(from).length !== 2) throw new Error(`the declarations have no single \`${from}\``);
  return text.replace(from, to);
}

/** The declarations of the requests and of the simulator in one file, as importing one from the
 *  other depends on how the user's compiler resolves modules. */
async function declarations() {
  const folder = join(out, "declarations");
  const options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false"];
  const tsc = join(root, "web/node_modules/.bin/tsc");
  run(tsc, "--project", join(root, "web"), ...options, "--outDir", folder);
  const [requests, simulator] = await Promise.all(
    ["protocol", "simulator"].map((name) => readFile(join(folder, `${name}.d.ts`), "utf8")),
  );
  const local = 'import type { Answer, Request } from "./protocol";\n';
  const optional = replaced(replaced(simulator, local, ""), "load(source:", "load(source?:");
  return requests + optional;
}

const manifest = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
const workspace = await readFile(join(root, "Cargo.toml"), "utf8");
const field = (name) => new RegExp(`^${name} = "(.*)"$`, "m").exec(workspace)[1];
manifest.version = field("version");
for (const name of ["repository", "homepage"]) {
  manifest[name] = field(name) || undefined;
}

await rm(out, { recursive: true, force: true });
await mkdir(staged, { recursive: true });
await build({
  entryPoints: [join(here, "index.js")],
  outfile: join(staged, "index.js"),
  bundle: true,
  format: "esm",
  target: "es2022",
  external: ["node:*"],
  logLevel: "warning",
});
await writeFile(join(staged, "index.d.ts"), await declarations());
await writeFile(join(staged, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
await copyFile(join(here, "README.md"), join(staged, "README.md"));
for (const name of ["LICENSE-MIT", "LICENSE-APACHE"])
  await copyFile(join(root, name), join(staged, name));
await copyFile(join(target, "web/sojourn.wasm"), join(staged, "sojourn.wasm"));
run("npm", "pack", staged, "--pack-destination", out, "--offline");
console.log(join(out, `${manifest.name}-${manifest.version}.tgz`));
