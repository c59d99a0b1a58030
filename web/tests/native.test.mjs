// Whole runs of the scenarios of RFC 7928: the native digest and that of WebAssembly, on the spot.
// PYTHON names an interpreter with sojourn.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root, simulator } from "./support.mjs";

const python = process.env.PYTHON ?? join(root, ".venv/bin/python");
const skip = existsSync(python) ? false : `${python} is missing`;

const RUNS = `
import json, sojourn
from sojourn.describing.library import shipped
from sojourn.live.texts import changed
names = sorted(name for name in shipped() if name.startswith("rfc7928/"))
print(json.dumps([[name, changed(name, {}), sojourn.run(name).digest] for name in names]))
`;

test("every scenario of RFC 7928 has the native digest", { skip }, async () => {
  const { stdout, stderr } = spawnSync(python, ["-c", RUNS], { encoding: "utf8" });
  assert.notEqual(stdout, "", stderr);
  const call = await simulator();
  for (const [name, text, digest] of JSON.parse(stdout)) {
    assert.equal(call({ call: "run", text }).ok?.digest, digest, name);
  }
});
