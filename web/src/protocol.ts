// The page's requests to the simulator and the answers, as defined in crates/wasm/src/page_call.rs
// and observed.rs.

export interface Setting {
  text: string;
  seed?: string;
  aqm?: string;
  link?: string;
  longest_s?: number;
  sample_s?: number;
  files?: Record<string, string>;
}

/** A text with the rate and RTT of its line and the device, where the text leaves them open. */
export interface PastedSetup {
  text: string;
  rate?: string | undefined;
  rtt?: string | undefined;
  device?: string | undefined;
}

export type Request =
  | { call: "catalogue" }
  | ({ call: "check" } & Setting)
  | ({ call: "run" } & Setting)
  | ({ call: "open" } & Setting)
  | { call: "advance"; session: number; until_s: number; events: number }
  | { call: "step_packet"; session: number }
  | { call: "set_queue"; session: number; aqm: string }
  | { call: "finish"; session: number }
  | { call: "close"; session: number }
  | ({ call: "setup" } & PastedSetup);

export interface Refusal {
  place: string;
  line: number | null;
  message: string;
}

export type Answer<T> = { ok: T; error?: undefined } | { ok?: undefined; error: Refusal };

export interface Var {
  name: string;
  unit: string;
  doc: string;
}

export interface Param {
  name: string;
  doc: string;
  kind: string;
  absent: string | null;
  words: string[];
  rule: string;
  defaults: Record<string, string>;
  sources: Record<string, string>;
  without_effect: string[];
}

export interface Aqm {
  name: string;
  doc: string;
  dialects: { name: string; doc: string }[];
  params: Param[];
  vars: Var[];
}

export interface Catalogue {
  version: string;
  aqms: Aqm[];
}

export interface Group {
  name: string;
  count: number;
}

export interface LinkFacts {
  name: string;
  queue: string;
  limit: string;
  rate_bps: number;
  delay_s: number;
}

export type Table = { [key: string]: unknown };

export interface Checked {
  name: string;
  seed: string;
  duration_s: number;
  sample_s: number;
  links: LinkFacts[];
  watched: string;
  groups: Group[];
  warnings: string[];
  packets_estimated: number;
  document: { links: Record<string, Table>; flows: Table[]; duration: string; warmup?: string };
}

export interface Opened {
  session: number;
  link: string;
  queue: string;
  duration_s: number;
  warmup_s: number;
  sample_s: number;
  vars: Var[];
  groups: Group[];
  curves: number;
}

export interface Signal {
  t: number;
  flow: number;
  seq: number;
  bytes: number;
  sojourn_s: number;
  is_mark: boolean;
  stage: "enqueue" | "queued" | "dequeue";
  cause: string;
  rule: string;
  state: (number | null)[];
}

/** One row of a flow: time, flow, cwnd, bytes in flight, bytes delivered, smoothed RTT in s. */
export type FlowSample = [number, number, number, number, number, number | null];

export interface Taken {
  now_s: number;
  is_over: boolean;
  digest: string;
  samples: (number | null)[][];
  flows: FlowSample[];
  signals: Signal[];
  signal_vars: Var[] | null;
  left: [number | null, number, boolean][];
  waiting: [number, number, number][];
  waiting_count: number;
}

/** Scope, name, metric, value, unit. */
export type SummaryRow = [string, string, string, number | null, string];

export interface Finished {
  digest: string;
  events: number;
  packets: number;
  summary: SummaryRow[];
  delay_cdf: [number, number][];
}

/** Something wrong or doubtful in a set-up. */
export interface Finding {
  severity: "wrong" | "doubtful";
  code: string;
  line: number;
  title: string;
  reason: string;
  evidence: string;
  remedy: string;
}

/** A set-up of tc, as `sojourn tc import` and `sojourn tc check` describe it. */
export interface Setup {
  devices: string[];
  queue: { device: string; kind: string; aqm: string } | null;
  /** The scenario, or why it has none. */
  scenario: string | null;
  refusal: string | null;
  read: string[];
  unknown: string[];
  findings: Finding[];
}
