// The simulator in WebAssembly gives the digests that the native one has on record.

import assert from "node:assert/strict";
import test from "node:test";
import { fingerprints, simulator } from "./support.mjs";

const call = await simulator();
const records = await fingerprints();

for (const { scenario, aqm, digest, setting } of records) {
  test(`${scenario} with ${aqm} has the native digest`, () => {
    assert.equal(call({ call: "run", ...setting }).ok?.digest, digest);
  });
}

test("a run in slices, observed and stepped packet by packet, has the native digest", () => {
  const { digest, setting } = records.find((one) => one.scenario === "traffic-mix" && one.aqm === "fq_codel");
  const { session } = call({ call: "open", ...setting }).ok;
  let taken = call({ call: "advance", session, until_s: 2.5, events: 1e9 }).ok;
  for (let i = 0; i < 50; i++) taken = call({ call: "step_packet", session }).ok;
  assert.ok(taken.now_s > 2.5 && taken.now_s < 3, `50 packets later it is ${taken.now_s} s`);
  while (!taken.is_over) taken = call({ call: "advance", session, until_s: 1e6, events: 12_345 }).ok;
  assert.equal(call({ call: "finish", session }).ok.digest, digest);
});

test("a change in mid-run repeats", () => {
  const { setting } = records.find((one) => one.scenario === "traffic-mix" && one.aqm === "taildrop");
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
  const { setting } = records[0];
  const text = setting.text.replace(/\[\[flows\]\]/, "[[flows]]\ncount = 10000000");
  assert.match(call({ call: "check", ...setting, text }).error.message, /10000000|10 ?000 ?000|count/);
});

test("a damaged call and an unknown session are refused", () => {
  assert.match(call({ call: "nothing" }).error.message, /damaged/);
  assert.match(call({ call: "finish", session: 77 }).error.message, /no session 77/);
});
