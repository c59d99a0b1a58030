// Converts output of `tc qdisc show` to our AQM (iproute2 6.1, tc/q_*.c).

/** An AQM of a machine, and words of its line without a counterpart in ours. */
export interface ShownQdisc {
  device: string;
  kind: string;
  aqm: string;
  /** The AQM without its limit, for a link that has a buffer. */
  unlimited: string;
  ignored: string[];
}

/** Names of parameters with values, from the word's value; null if ours has no such value. */
type Reading = (value: string) => [string, string][] | null;

// tc prints sizes as multiples of 1024 (iproute2 6.1 lib/utils_math.c, print_size).
const SIZE_UNITS: Record<string, number> = { b: 1, Kb: 1024, Mb: 1024 * 1024 };

function bytes(text: string): string {
  const found = /^([\d.]+)(b|Kb|Mb)?$/.exec(text);
  if (!found) return text; // the simulator's parser reports the error
  return `${Math.round(Number(found[1]) * (SIZE_UNITS[found[2] ?? "b"] ?? 1))}B`;
}

const same =
  (name: string): Reading =>
  (value) => [[name, value]];
const size =
  (name: string): Reading =>
  (value) => [[name, bytes(value)]];
/** A gain in sixteenths of a hertz, the unit of tc's pie (iproute2 6.1 tc/q_pie.c). */
const gain =
  (name: string): Reading =>
  (value) => [[name, `${Number(value) / 16}hz`]];
const hertz =
  (name: string): Reading =>
  (value) => [[name, `${value}hz`]];
/** A number of packets, for which ours has no unit. */
const packets =
  (name: string): Reading =>
  (value) => [[name, value.replace(/p$/, "")]];
/** Without a rate, cake shapes nothing. */
const rate: Reading = (value) =>
  value === "unlimited" ? [] : [["bandwidth", value.toLowerCase()]];
/** tc's `rtt` also sets the target, to a twentieth (iproute2 6.1 tc/q_cake.c). */
const rtt: Reading = (value) => {
  const found = /^([\d.]+)(us|ms|s)$/.exec(value);
  if (!found) return [["interval", value]];
  const micros = Number(found[1]) * { us: 1, ms: 1e3, s: 1e6 }[found[2] as "us" | "ms" | "s"];
  const target = Math.max(1, Math.floor(micros / 20));
  return [
    ["interval", value],
    ["target", `${target}us`],
  ];
};
/** A size, which must not be negative in our form. */
const positive =
  (name: string): Reading =>
  (value) =>
    /^\d+$/.test(value) ? [[name, `${value}B`]] : null;
/** A share of tc's, in percent. */
const percent =
  (name: string): Reading =>
  (value) => [[name, String(Number(value.replace("%", "")) / 100)]];
/** tc shows queues as `128/1024`: queues and hash buckets; the latter are `divisor`. */
const queues: Reading = (value) => [["flows", value.split("/")[0] ?? value]];
const seconds: Reading = (value) => [["perturb", value.replace("sec", "s")]];

const CODEL = {
  limit: same("limit"),
  target: same("target"),
  interval: same("interval"),
  ce_threshold: same("ce_threshold"),
};
const FLOWS = { flows: same("flows"), quantum: size("quantum") };
const PIE = {
  limit: same("limit"),
  target: same("target"),
  tupdate: same("tupdate"),
  alpha: gain("alpha"),
  beta: gain("beta"),
};
const PACKETS = { limit: same("limit") };
const BYTES = { limit: size("limit") };
/** A probability; tc shows it with -d. */
const PROBABILITY = { probability: same("max_p") };
const THRESHOLDS = { min: size("min_th"), max: size("max_th"), ...PROBABILITY };
const COUNTED = { ...PACKETS, depth: same("depth"), divisor: same("divisor"), flows: queues };

/** Words of cake that map to a value of ours. */
const CAKE_WORDS: Record<string, [string, string]> = {
  flowblind: ["isolation", "flowblind"],
  flows: ["isolation", "flows"],
  "dual-srchost": ["isolation", "src"],
  "dual-dsthost": ["isolation", "dst"],
  "triple-isolate": ["isolation", "triple"],
  noatm: ["cells", "none"],
  atm: ["cells", "atm"],
  ptm: ["cells", "ptm"],
  precedence: ["diffserv", "precedence"],
  diffserv3: ["diffserv", "diffserv3"],
  diffserv4: ["diffserv", "diffserv4"],
  diffserv8: ["diffserv", "diffserv8"],
  wash: ["wash", "true"],
  ingress: ["ingress", "true"],
  "ack-filter": ["ack_filter", "on"],
  "ack-filter-aggressive": ["ack_filter", "aggressive"],
};
const PIE_WORDS: Record<string, [string, string]> = { dq_rate_estimator: ["delay", "rate"] };
const DUALPI2_WORDS: Record<string, [string, string]> = {
  drop_on_overload: ["drop_overload", "true"],
  overflow: ["drop_overload", "false"],
};
const WORDS: Record<string, Record<string, [string, string]>> = {
  cake: CAKE_WORDS,
  pie: PIE_WORDS,
  fq_pie: PIE_WORDS,
  dualpi2: DUALPI2_WORDS,
};
/** Words for our defaults: one tin, the packet's actual size, and disabled options. */
const NEUTRAL = /^(besteffort|raw|nonat|nowash|no-ack-filter|no-split-gso|noecn|nobytemode)$/;

/** For every kind: the AQM, its words with a value, and its flags. */
const KINDS: Record<string, [string, Record<string, Reading>, Record<string, string>]> = {
  pfifo: ["taildrop", PACKETS, {}],
  bfifo: ["taildrop", BYTES, {}],
  codel: ["codel@linux", CODEL, { ecn: "ecn" }],
  fq_codel: [
    "fq_codel@linux",
    { ...CODEL, ...FLOWS, memory_limit: size("memory_limit"), drop_batch: same("drop_batch") },
    { ecn: "ecn" },
  ],
  pie: ["pie@linux", PIE, { ecn: "ecn", bytemode: "byte_mode" }],
  // Its memory limit has no effect in the dialect linux: `sojourn explain fq_pie`.
  fq_pie: [
    "fq_pie@linux",
    { ...PIE, ...FLOWS, ecn_prob: percent("ecn_mark_limit") },
    { ecn: "ecn", bytemode: "byte_mode" },
  ],
  red: ["red@linux", { ...BYTES, ...THRESHOLDS }, { ecn: "ecn", harddrop: "hard_drop" }],
  choke: [
    "choke",
    { ...PACKETS, min: packets("min_th"), max: packets("max_th"), ...PROBABILITY },
    { ecn: "ecn" },
  ],
  sfb: [
    "sfb",
    {
      ...PACKETS,
      rehash: same("rehash_interval"),
      db: same("warmup"),
      max: packets("bin_max"),
      target: packets("bin_target"),
      increment: same("increment"),
      decrement: same("decrement"),
      penalty_rate: (value) => [["penalty_rate", value.replace(/pps$/, "hz")]],
      penalty_burst: packets("penalty_burst"),
    },
    {},
  ],
  sfq: [
    "sfq",
    { ...COUNTED, quantum: size("quantum"), perturb: seconds },
    { headdrop: "headdrop" },
  ],
  cake: [
    "cake",
    {
      bandwidth: rate,
      rtt,
      memlimit: size("limit"),
      overhead: positive("overhead"),
      mpu: positive("mpu"),
    },
    {},
  ],
  dualpi2: [
    "dualpi2@linux",
    {
      ...PACKETS,
      target: same("target"),
      tupdate: same("tupdate"),
      alpha: hertz("alpha"),
      beta: hertz("beta"),
      coupling_factor: same("k"),
      step_thresh: (value) => (value.endsWith("p") ? null : [["l_min_th", value]]),
      min_qlen_step: packets("l_min_len"),
      classic_protection: percent("c_weight"),
    },
    {},
  ],
};
/** Words about the line, not about the discipline, with their number of values. */
const OF_THE_LINE: Record<string, number> = { root: 0, refcnt: 1, parent: 1, ingress: 0 };
const BARE = /^[a-z][a-z_-]*$/;

function one(line: string): ShownQdisc | null {
  const found = /^\s*qdisc (\S+) \S+ (?:dev (\S+) )?(.*)$/.exec(line);
  const kind = found?.[1] ?? "";
  const known = KINDS[kind];
  if (!found || !known) return null;
  const [aqm, valued, flags] = known;
  const values: string[] = Object.values(flags).map((name) => `${name}=false`);
  const ignored: string[] = [];
  const words = (found[3] ?? "").trim().split(/\s+/);
  while (words.length > 0) {
    const word = words.shift() ?? "";
    const reading = valued[word];
    const flag = flags[word];
    const stands = WORDS[kind]?.[word];
    if (stands) {
      values.push(stands.join("="));
    } else if (reading) {
      const value = words.shift() ?? "";
      const read = reading(value);
      if (read) values.push(...read.map((pair) => pair.join("=")));
      else ignored.push(`${word} ${value}`);
    } else if (NEUTRAL.test(word)) {
      continue;
    } else if (flag) {
      values[Object.values(flags).indexOf(flag)] = `${flag}=true`;
    } else if (word in OF_THE_LINE) {
      words.splice(0, OF_THE_LINE[word]);
    } else if (word !== "") {
      const takes = words[0] !== undefined && !BARE.test(words[0]);
      ignored.push(takes ? `${word} ${words.shift() ?? ""}` : word);
    }
  }
  const text = (of: string[]): string => (of.length > 0 ? `${aqm}:${of.join(",")}` : aqm);
  const unlimited = text(values.filter((value) => !value.startsWith("limit=")));
  return { device: found[2] ?? "", kind, aqm: text(values), unlimited, ignored };
}

/** Whether a text is output of `tc qdisc show`. */
export function isTcShow(text: string): boolean {
  return /^\s*qdisc \S+ \S+/.test(text);
}

/** The first discipline that is an AQM of ours. Throws an error message without such a
 * discipline. */
export function readTcShow(text: string): ShownQdisc {
  const lines = text.split("\n").filter(isTcShow);
  const first = lines.map(one).find((shown) => shown !== null);
  if (first) return first;
  const kinds = [...new Set(lines.map((line) => line.trim().split(/\s+/)[1] ?? ""))];
  throw new Error(`tc shows ${kinds.join(", ")}; the page reads ${Object.keys(KINDS).join(", ")}`);
}

/** Which part of a line became an AQM here, and which did not. */
export function described(shown: ShownQdisc, hasBuffer: boolean): string {
  const { device, kind, aqm, unlimited, ignored } = shown;
  const limit =
    hasBuffer && aqm !== unlimited
      ? " Its limit is left out, as the line has a buffer: delete `buffer` and open it again."
      : "";
  const left = ignored.length > 0 ? ` Without a counterpart here: ${ignored.join(", ")}.` : "";
  return `Side A runs ${kind}${device ? ` of ${device}` : ""} as tc shows it.${limit}${left}`;
}
