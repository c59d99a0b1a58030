// The package for npm, as its users get it: packed, unpacked into another folder, imported by name.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fingerprints, root } from "./support.mjs";

const wasm = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "web/sojourn.wasm");
const skip = existsSync(wasm) ? false : `${wasm} is missing: make web`;

function run(folder, program, ...words) {
  const ran = spawnSync(program, words, { cwd: folder, encoding: "utf8" });
  assert.equal(ran.status, 0, `${program}: ${ran.error ?? ""}${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

/** A project with the package among its modules. */
async function project(context) {
  const folder = await mkdtemp(join(tmpdir(), "sojourn-npm-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const built = run(root, "node", "web/npm/build.mjs", join(folder, "packed"));
  const unpacked = join(folder, "node_modules/sojourn-simulator");
  await mkdir(unpacked, { recursive: true });
  run(unpacked, "tar", "--extract", "--gzip", "--strip-components=1", "--file", built.trim());
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  return folder;
}

test("the example of the package prints the native digest, and has types", { skip }, async (t) => {
  const folder = await project(t);
  const records = await fingerprints();
  const { scenario, digest } = records.find(
    (one) => one.scenario === "dumbbell-cubic" && one.aqm === "as-shipped",
  );
  const text = await readFile(join(root, `python/sojourn/scenarios/${scenario}.toml`), "utf8");
  // The digests on record are of 30 s.
  const shorter = text.replace('duration = "60s"', 'duration = "30s"');
  await writeFile(join(folder, "scenario.toml"), shorter);
  const readme = await readFile(join(folder, "node_modules/sojourn-simulator/README.md"), "utf8");
  const example = /^```js\n(.*?)^```/ms.exec(readme)[1];
  assert.ok(example.trim().split("\n").length <= 10, "ten lines suffice");
  await writeFile(join(folder, "example.mjs"), example);
  const [printed, events] = run(folder, "node", "example.mjs").split(" ");
  assert.equal(printed, digest);
  assert.ok(Number(events) > 0, events);

  const typed = `import { load, type Finished } from "sojourn-simulator";
    const call = await load();
    const answer = call<Finished>({ call: "run", text: "" });
    export const digest: string | undefined = answer.ok?.digest;
    // @ts-expect-error: an unknown call
    call({ call: "nothing" });\n`;
  await writeFile(join(folder, "typed.ts"), typed);
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"];
  run(folder, join(root, "web/node_modules/.bin/tsc"), ...options, "typed.ts");
});
