// The simulator in WebAssembly gives the digests that the native one has on record.

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import test from "node:test";
import { join } from "node:path";
import { build } from "esbuild";
import { fingerprints, root, simulator } from "./support.mjs";

const call = await simulator();
const records = await fingerprints();

for (const { scenario, aqm, digest, setting } of records) {
  test(`${scenario} with ${aqm} has the native digest`, () => {
    assert.equal(call({ call: "run", ...setting }).ok?.digest, digest);
  });
}

test("a run in slices, observed and stepped packet by packet, has the native digest", () => {
  const { digest, setting } = records.find(
    (one) => one.scenario === "traffic-mix" && one.aqm === "fq_codel",
  );
  const { session } = call({ call: "open", ...setting }).ok;
  let taken = call({ call: "advance", session, until_s: 2.5, events: 1e9 }).ok;
  for (let i = 0; i < 50; i++) taken = call({ call: "step_packet", session }).ok;
  assert.ok(taken.now_s > 2.5 && taken.now_s < 3, `50 packets later it is ${taken.now_s} s`);
  while (!taken.is_over)
    taken = call({ call: "advance", session, until_s: 1e6, events: 12_345 }).ok;
  assert.equal(call({ call: "finish", session }).ok.digest, digest);
});

test("a change in mid-run repeats", () => {
  const { setting } = records.find(
    (one) => one.scenario === "traffic-mix" && one.aqm === "taildrop",
  );
  const run = () => {
    const { session } = call({ call: "open", ...setting }).ok;
    call({ call: "advance", session, until_s: 5, events: 1e9 });
    assert.ok(call({ call: "set_queue", session, aqm: "pie:target=5ms" }).ok);
    call({ call: "advance", session, until_s: 1e6, events: 1e9 });
    return call({ call: "finish", session }).ok.digest;
  };
  assert.equal(run(), run());
});

test("an error names its line", () => {
  const text = 'name = "x"\nduration = "1s"\n[links.a]\nrate = "fast"\n';
  const { error } = call({ call: "check", text });
  assert.equal(error.line, 4);
  assert.match(error.place, /links\.a\.rate/);
});

test("ten million flows are refused in one sentence", () => {
  const { setting } = records.find((one) => one.scenario === "traffic-mix");
  const text = setting.text.replace("count = 10", "count = 10000000");
  assert.match(
    call({ call: "check", ...setting, text }).error.message,
    /10000024 flows; the page takes/,
  );
});

test("every preset of the page is a legal scenario", async () => {
  const names = new Set(records.map((one) => one.scenario));
  const out = await build({
    stdin: { contents: 'export { PRESETS } from "./presets"', resolveDir: join(root, "web/src") },
    bundle: true,
    write: false,
    format: "esm",
    loader: { ".toml": "text" },
  });
  const url = `data:text/javascript,${encodeURIComponent(out.outputFiles[0].text)}`;
  const { PRESETS } = await import(url);
  for (const { name, kind, text } of PRESETS) {
    if (kind === "scenario") assert.ok(names.has(name), `${name} is not a shipped scenario`);
    const files = { "cellular.down": "10\n20\n", "cellular.up": "10\n20\n" };
    const answer = call({ call: "check", text, files });
    assert.equal(answer.error, undefined, name);
    if (kind === "line") assert.deepEqual(answer.ok.warnings, [], name);
  }
  const shipped = PRESETS.filter((one) => one.kind === "scenario");
  assert.equal(shipped.length, names.size, "every shipped scenario is a preset");
  const files = await readdir(join(root, "python/sojourn/scenarios/rfc7928"));
  assert.deepEqual(
    PRESETS.filter((one) => one.kind === "rfc7928")
      .map((one) => `${one.name}.toml`)
      .sort(),
    files.map((file) => `rfc7928/${file}`).sort(),
  );
});

test("a damaged call and an unknown session are refused", () => {
  assert.match(call({ call: "nothing" }).error.message, /damaged/);
  assert.match(call({ call: "finish", session: 77 }).error.message, /unknown session 77/);
});
