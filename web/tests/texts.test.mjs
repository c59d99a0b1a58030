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
const { readTcShow } = await module("tc-show");
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

// Lines of tc of iproute2 6.1 on Linux 6.1.
const ROOT = "8001: dev eth0 root refcnt 2";
for (const [line, aqm, ignored] of [
  [`pfifo ${ROOT} limit 100p`, "taildrop:limit=100p", []],
  [`bfifo ${ROOT} limit 125000b`, "taildrop:limit=125000B", []],
  [
    `codel ${ROOT} limit 1000p target 5ms interval 100ms`,
    "codel@linux:ecn=false,limit=1000p,target=5ms,interval=100ms",
    [],
  ],
  [
    `pie ${ROOT} limit 1000p target 15ms tupdate 16ms alpha 2 beta 20 ecn`,
    "pie@linux:ecn=true,byte_mode=false,limit=1000p,target=15ms,tupdate=16ms,alpha=0.125hz,beta=1.25hz",
    [],
  ],
  [
    `cake ${ROOT} bandwidth 20Mbit besteffort triple-isolate nonat rtt 100ms raw overhead 0`,
    "cake:bandwidth=20mbit,isolation=triple,interval=100ms,target=5000us,overhead=0B",
    [],
  ],
  [
    `cake ${ROOT} bandwidth 831Kbit diffserv3 dual-dsthost nat nowash no-ack-filter split-gso rtt 30ms ptm overhead 22 mpu 68 memlimit 4Mb`,
    "cake:bandwidth=831kbit,diffserv=diffserv3,isolation=dst,interval=30ms,target=1500us,cells=ptm,overhead=22B,mpu=68B,limit=4194304B",
    ["nat", "split-gso"],
  ],
  [
    `cake ${ROOT} bandwidth unlimited besteffort dual-srchost nonat rtt 100ms noatm overhead -4`,
    "cake:isolation=src,interval=100ms,target=5000us,cells=none",
    ["overhead -4"],
  ],
  [
    `choke ${ROOT} limit 1000p min 83p max 250p ecn`,
    "choke:ecn=true,limit=1000p,min_th=83,max_th=250",
    [],
  ],
  [
    `sfq ${ROOT} limit 127p quantum 1514b depth 127 headdrop flows 128/1024 divisor 1024 perturb 10sec`,
    "sfq:headdrop=true,limit=127p,quantum=1514B,depth=127,flows=128,divisor=1024,perturb=10s",
    [],
  ],
  [
    `pie ${ROOT} limit 1000p target 15ms tupdate 15ms alpha 2 beta 20 dq_rate_estimator`,
    "pie@linux:ecn=false,byte_mode=false,limit=1000p,target=15ms,tupdate=15ms,alpha=0.125hz,beta=1.25hz,delay=rate",
    [],
  ],
  [
    `fq_codel ${ROOT} limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb drop_batch 64`,
    "fq_codel@linux:ecn=false,limit=10240p,flows=1024,quantum=1514B,target=5ms,interval=100ms,memory_limit=33554432B,drop_batch=64",
    [],
  ],
])
  test(`tc's ${line.split(" ")[0]} is ${aqm.split(":")[0]}`, () => {
    const shown = readTcShow(`qdisc ${line}\n`);
    assert.deepEqual([shown.device, shown.aqm, shown.ignored], ["eth0", aqm, ignored]);
    assert.doesNotMatch(shown.unlimited, /limit=[^,]*p/);
  });

// Every word of each kind of tc (iproute2 6.1; fq_pie, sfb and dualpi2 of 6.1 and later).
const ALL_WORDS = {
  taildrop: "pfifo limit 9p",
  "red@linux": "red limit 60Kb min 10Kb max 30Kb ecn harddrop ewma 3 probability 0.1 Scell_log 9",
  "codel@linux": "codel limit 9p target 4ms ce_threshold 1ms interval 90ms ecn",
  "pie@linux":
    "pie limit 9p target 14ms tupdate 14ms alpha 1 beta 9 ecn bytemode dq_rate_estimator",
  "choke@linux": "choke limit 99p min 9p max 30p ecn ewma 3 probability 0.1 Scell_log 9",
  "sfb@linux":
    "sfb rehash 60s db 6s limit 99p max 24p target 19p increment 0.001 decrement 0.0001 penalty_rate 9pps penalty_burst 19p",
  "sfq@linux": "sfq limit 99p quantum 1500b depth 9 headdrop flows 64/512 divisor 512 perturb 9sec",
  "dualpi2@linux":
    "dualpi2 limit 9p target 14ms tupdate 14ms alpha 0.2 beta 3 step_thresh 2ms min_qlen_step 1p coupling_factor 3 overflow drop_dequeue classic_protection 9% l4s_ect split_gso",
  cake: "cake bandwidth 20Mbit diffserv4 dual-srchost nat wash ingress ack-filter rtt 30ms atm overhead 10 mpu 64 memlimit 4Mb",
  "fq_codel@linux":
    "fq_codel limit 99p flows 64 quantum 300 target 4ms ce_threshold 1ms interval 90ms memory_limit 4Mb ecn drop_batch 9",
  "fq_pie@linux":
    "fq_pie limit 99p flows 64 target 14ms tupdate 14ms alpha 1 beta 9 quantum 300b memory_limit 4Mb ecn_prob 9 ecn bytemode dq_rate_estimator",
};
// tc does not show these.
const NOT_SHOWN = {
  "red@linux": ["burst", "bandwidth", "mean_packet_bytes"],
  "choke@linux": ["burst", "mean_packet_bytes"],
  // Read as the interval and the target that it sets.
  cake: ["rtt"],
};

test("tc's words set every parameter that the kernel takes", async () => {
  const table = await readFile(join(root, "docs/results/parameters.md"), "utf8");
  const kernel = table.split("## ").find((part) => part.startsWith("Engine linux"));
  const rows = [...kernel.matchAll(/^\| `([^`]+)` \| ([^|]*) \|/gm)];
  assert.ok(rows.length >= 12, String(rows.length));
  for (const [, aqm, set] of rows) {
    if (aqm === "ared@linux") continue; // tc shows plain RED: fact linux-4
    if (aqm === "fq@linux") continue; // not in the page
    const words = ALL_WORDS[aqm];
    assert.ok(words, `no line of tc for ${aqm}`);
    const shown = readTcShow(`qdisc ${words.replace(" ", " 8001: dev eth0 root ")}`);
    for (const name of set.replaceAll("`", "").split(", ")) {
      if (NOT_SHOWN[aqm]?.includes(name)) continue;
      assert.match(shown.aqm, new RegExp(`[:,]${name}=`), `${aqm}: ${name}`);
    }
  }
});

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
