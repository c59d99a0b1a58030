// Texts that the page reads and writes: TOML edits, AQMs, addresses.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { sizes, sizesOnRecord } from "./sizes.mjs";
import { module, root } from "./support.mjs";

const { counted } = await module("dom");
const { setKey } = await module("toml");
const { parse, write } = await module("aqm-text");
const { ellipse } = await module("plane");
const { encode, decode } = await module("url-state");

const TOML = `name = "x"
[links.a]  # the first
rate = "1mbit"   # slow
[links.b]
rate = "2mbit"

# flows
[[flows]]
rtt = "10ms"
[[flows]]
path = ["a"]
`;

test("the page is as large as docs/how-to/browser.md says, to a twentieth", async () => {
  const [found, written] = [await sizes(), new Map(await sizesOnRecord())];
  assert.equal(written.size, found.length);
  for (const [what, bytes] of found) {
    const recorded = written.get(what);
    const far = Math.abs(bytes / recorded - 1);
    assert.ok(far < 0.05, `${what}: ${bytes} B, ${recorded} B on record; make web-sizes`);
  }
});

test("a noun follows its number", () => {
  assert.deepEqual(
    [0, 1, 2].map((number) => counted(number, "seed")),
    ["0 seeds", "1 seed", "2 seeds"],
  );
});

test("an edit changes one value and leaves comments alone", () => {
  assert.equal(
    setKey(TOML, { header: "links.a" }, "rate", '"9mbit"'),
    TOML.replace('"1mbit"', '"9mbit"'),
  );
  assert.equal(setKey(TOML, { header: "" }, "name", '"y"'), TOML.replace('"x"', '"y"'));
});

test("a key that is not there is added to its table", () => {
  assert.equal(
    setKey(TOML, { header: "flows", index: 1 }, "count", "3"),
    TOML.replace('path = ["a"]\n', 'path = ["a"]\ncount = 3\n'),
  );
  assert.equal(
    setKey(TOML, { header: "links.b" }, "delay", '"1ms"'),
    TOML.replace('"2mbit"\n', '"2mbit"\ndelay = "1ms"\n'),
  );
});

test("a table that is not there is not invented", () => {
  assert.equal(setKey(TOML, { header: "links.c" }, "rate", '"1mbit"'), null);
  assert.equal(setKey(TOML, { header: "flows", index: 2 }, "count", "3"), null);
});

for (const text of ["codel", "pie@linux:target=5ms,alpha=0.1hz", "fq(pie@linux):flows=16"]) {
  test(`${text} is written as it was read`, () => assert.equal(write(parse(text)), text));
}

test("the ellipse of points on a line is a line in its direction", () => {
  const [long, short, angle] = ellipse([
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
  assert.ok(Math.abs(long - Math.SQRT2) < 1e-12 && short < 1e-6);
  assert.ok(Math.abs(angle - Math.PI / 4) < 1e-12);
});

test("an address gives back the state it was made of", async () => {
  const changes = [{ t: 1.25, side: 1, aqm: "pie" }];
  const state = {
    text: "ä = 1\n",
    aqms: ["codel", "pie"],
    seed: "18446744073709551615",
    speed: "max",
    changes,
  };
  assert.deepEqual(await decode(`#${await encode(state)}`), state);
});

test("an address without a state, a damaged one and a foreign version differ", async () => {
  assert.equal(await decode(""), null);
  const good = await encode({ text: "", aqms: ["a", "b"], seed: "1", speed: "1", changes: [] });
  await assert.rejects(decode(`#${good.slice(0, -6)}`), /damaged/);
  await assert.rejects(decode("#2.abc"), /version 2/);
  await assert.rejects(decode(`#1.${"a".repeat(70_000)}`), /damaged/);
});
