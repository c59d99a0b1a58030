// Pasted set-ups, read by the simulator in node: queues, findings, one sentence for each bad text.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { fingerprints, module, root, simulator } from "./support.mjs";

const call = await simulator();
const { withoutLimit } = await module("setup");
const setup = (text, given = {}) => call({ call: "setup", text, ...given });

// Lines of tc of iproute2 6.1 on Linux 6.1.
const ROOT = "8001: dev eth0 root refcnt 2";
for (const [line, aqm] of [
  [`pfifo ${ROOT} limit 100p`, "taildrop:limit=100p"],
  [`bfifo ${ROOT} limit 125000b`, "taildrop@bytes:limit=125000B"],
  [
    `codel ${ROOT} limit 1000p target 5ms interval 100ms`,
    "codel@linux:ecn=false,limit=1000p,target=5ms,interval=100ms",
  ],
  [
    `pie ${ROOT} limit 1000p target 15ms tupdate 16ms alpha 2 beta 20 ecn`,
    "pie@linux:limit=1000p,target=15ms,tupdate=16ms,alpha=0.125hz,beta=1.25hz,ecn=true",
  ],
  [
    `cake ${ROOT} bandwidth 831Kbit diffserv3 dual-dsthost nat nowash no-ack-filter split-gso rtt 30ms ptm overhead 22 mpu 68 memlimit 4Mb`,
    "cake:bandwidth=831kbit,interval=30ms,target=1500us,isolation=dst,diffserv=diffserv3,overhead=22B,cells=ptm,mpu=68B,limit=4194304B",
  ],
  [
    `cake ${ROOT} bandwidth unlimited besteffort dual-srchost nonat rtt 100ms noatm overhead -4`,
    "cake:interval=100ms,target=5ms,isolation=src,overhead=-4B",
  ],
  [
    `choke ${ROOT} limit 1000p min 83p max 250p ecn`,
    "choke:limit=1000p,min_th=83,max_th=250,ecn=true",
  ],
  [
    `sfq ${ROOT} limit 127p quantum 1514b depth 127 headdrop flows 128/1024 divisor 1024 perturb 10sec`,
    "sfq:limit=127p,quantum=1514B,depth=127,headdrop=true,flows=128,divisor=1024,perturb=10s",
  ],
  [
    `fq_codel ${ROOT} limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb drop_batch 64`,
    "fq_codel@linux:ecn=false,limit=10240p,flows=1024,quantum=1514B,target=5ms,interval=100ms,memory_limit=33554432B,drop_batch=64",
  ],
])
  test(`tc's ${line.split(" ")[0]} is ${aqm.split(":")[0]}`, () => {
    const { queue } = setup(`qdisc ${line}\n`).ok;
    assert.deepEqual(queue, { device: "eth0", kind: line.split(" ")[0], aqm });
    assert.doesNotMatch(withoutLimit(aqm), /[:,]limit=/);
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
    "dualpi2 limit 9p target 14ms tupdate 14ms alpha 0.2 beta 3 step_thresh 2ms min_qlen_step 1p coupling_factor 3 overflow drop_dequeue classic_protection 9% l4s_ect no_split_gso",
  cake: "cake bandwidth 20Mbit autorate-ingress diffserv4 dual-srchost nat wash ingress ack-filter no-split-gso rtt 30ms atm overhead 10 mpu 64 memlimit 4Mb",
  "fq_codel@linux":
    "fq_codel limit 99p flows 64 quantum 300 target 4ms ce_threshold 1ms interval 90ms memory_limit 4Mb ecn drop_batch 9",
  "fq_pie@linux":
    "fq_pie limit 99p flows 64 target 14ms tupdate 14ms alpha 1 beta 9 quantum 300b memory_limit 4Mb ecn_prob 9 ecn bytemode dq_rate_estimator",
};
// tc does not show these.
const NOT_SHOWN = {
  "red@linux": ["bandwidth", "mean_packet_bytes"],
  "choke@linux": ["mean_packet_bytes"],
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
    const { queue } = setup(`qdisc ${words.replace(" ", " 8001: dev eth0 root ")}`).ok;
    for (const name of set.replaceAll("`", "").split(", ")) {
      if (NOT_SHOWN[aqm]?.includes(name)) continue;
      assert.match(queue.aqm, new RegExp(`[:,]${name}=`), `${aqm}: ${name}`);
    }
  }
});

test("every AQM that tc shows is one that the simulator takes", async () => {
  const found = (await fingerprints()).find((one) => one.scenario === "dumbbell-cubic");
  const text = found.setting.text.replace(/^buffer.*$/m, "");
  for (const words of Object.values(ALL_WORDS)) {
    const { aqm } = setup(`qdisc ${words.replace(" ", " 8001: dev eth0 root ")}`).ok.queue;
    assert.equal(call({ call: "check", ...found.setting, text, aqm }).error, undefined, aqm);
  }
});

const CODEL = "limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb";
const shown = (device) => `qdisc fq_codel 0: dev ${device} root ${CODEL} ecn drop_batch 64\n`;
const HTB =
  "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0\n" +
  `qdisc fq_codel 110: dev eth0 parent 1:10 ${CODEL} ecn drop_batch 64\n` +
  "class htb 1:10 root leaf 110: prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b\n";

test("a set-up with a rate is a legal scenario, with notes and findings", () => {
  const { scenario, read, unknown, findings, devices } = setup(HTB).ok;
  assert.equal(call({ call: "check", text: scenario }).error, undefined);
  assert.deepEqual(devices, ["eth0"]);
  assert.match(read.join(), /eth0 \(htb > fq_codel\): up, 1mbit/);
  assert.match(unknown.join(), /40ms is assumed/);
  assert.match(findings.map((one) => one.title).join(), /target/);
});

test("a queue without a rate has a scenario once the user gives the rate", () => {
  const { scenario, refusal, queue } = setup(shown("eth0")).ok;
  assert.equal(scenario, null);
  assert.match(refusal, /give that rate, such as --rate 50mbit/);
  assert.equal(queue.kind, "fq_codel");
  const given = setup(shown("eth0"), { rate: "20mbit", rtt: "10ms" }).ok;
  assert.equal(call({ call: "check", text: given.scenario }).error, undefined);
  assert.match(setup(shown("eth0"), { rate: "fast" }).error.message, /`fast` is not a rate/);
});

test("of several devices the user chooses one", () => {
  const text = shown("eth0") + shown("wlan0");
  const { devices, queue, refusal } = setup(text).ok;
  assert.deepEqual([devices, queue], [["eth0", "wlan0"], null]);
  assert.match(refusal, /several devices have a queue/);
  assert.equal(setup(text, { device: "wlan0" }).ok.queue.device, "wlan0");
});

for (const [what, text, words] of [
  ["another text", "hello", /this is not what `tc -s qdisc show` prints/],
  ["nothing", "  \n", /this is not what `tc -s qdisc show` prints/],
  ["a command", "tc qdisc add dev eth0 root cake", /give commands .* to `sojourn tc import`/],
  ["markup", `<pre>${shown("eth0")}</pre>`, /`<pre` is HTML around the paste/],
  ["binary", "\u007fELF\u0001\u0000 qdisc", /the line has control characters/],
])
  test(`${what} is refused in one sentence`, () => {
    const { message } = setup(text).error;
    assert.match(message, words);
    assert.doesNotMatch(message, /\n/);
  });

test("a line that is cut off has no queue and no scenario, and the reason", () => {
  const { queue, scenario, refusal } = setup(shown("eth0").slice(0, 60)).ok;
  assert.deepEqual([queue, scenario], [null, null]);
  assert.match(refusal, /^line 1: .* it is cut off; paste all of it$/);
});
