// The samples of one side so far, as columns for plots.

import type { Finished, Opened, Signal, Taken, Var } from "./protocol";

/** Goodput is the mean over this part of a run, so that a curve does not show single segments. */
const GOODPUT_PART = 1 / 200;
/** Drops and marks that are kept for the plot and the list; all are counted. */
const MOST_SIGNALS = 4000;

export interface Reason {
  signal: Signal;
  vars: Var[];
}

export class History {
  vars: Var[];
  readonly times: number[] = [];
  /** By name of the variable, one value for each time. */
  readonly columns = new Map<string, (number | null)[]>();
  /** By flow, in the order of the times: cwnd in bytes, goodput in bit/s. */
  readonly cwnd: (number | null)[][] = [];
  readonly goodput: (number | null)[][] = [];
  readonly signals: Reason[] = [];
  drops = 0;
  marks = 0;
  now = 0;
  isOver = false;
  digest = "";
  waiting: [number, number, number][] = [];
  waitingCount = 0;
  finished: Finished | null = null;
  /** By flow, bytes delivered by each sample. */
  private readonly delivered: number[][] = [];
  private readonly window: number;
  private readonly combined = new Map<string, (number | null)[]>();

  constructor(readonly opened: Opened) {
    this.vars = opened.vars;
    const samples = opened.duration_s / opened.sample_s;
    this.window = Math.max(1, Math.round(samples * GOODPUT_PART));
  }

  /** The averaging time of goodput, in seconds. */
  get goodputOver(): number {
    return this.window * this.opened.sample_s;
  }

  get flows(): number {
    const all = this.opened.groups.reduce((sum, group) => sum + group.count, 0);
    return Math.min(all, this.opened.curves);
  }

  /** The flows of a group that have curves. */
  flowsOf(group: number): number[] {
    const sizes = this.opened.groups.map((one) => one.count);
    const first = sizes.slice(0, group).reduce((sum, count) => sum + count, 0);
    const members = Array.from({ length: sizes[group] ?? 0 }, (_, i) => first + i);
    return members.filter((flow) => flow < this.opened.curves);
  }

  groupOf(flow: number): string {
    let first = 0;
    for (const group of this.opened.groups) {
      if (flow < first + group.count) {
        return group.count > 1 ? `${group.name} ${flow - first + 1}` : group.name;
      }
      first += group.count;
    }
    return `flow ${flow}`;
  }

  add(taken: Taken): void {
    for (const [t, ...values] of taken.samples) {
      const before = this.times.length;
      this.times.push(t as number);
      this.vars.forEach((of, i) => {
        const column = this.column(of.name);
        while (column.length < before) column.push(null); // it is new, or was missing
        column.push(values[i] ?? null);
      });
    }
    for (const [, flow, cwnd, , delivered] of taken.flows) this.addFlow(flow, cwnd, delivered);
    for (const signal of taken.signals) {
      if (signal.is_mark) this.marks += 1;
      else this.drops += 1;
      this.signals.push({ signal, vars: taken.signal_vars ?? [] });
    }
    this.signals.splice(0, Math.max(0, this.signals.length - MOST_SIGNALS));
    this.now = taken.now_s;
    this.isOver = taken.is_over;
    this.digest = taken.digest;
    this.waiting = taken.waiting;
    this.waitingCount = taken.waiting_count;
  }

  private addFlow(flow: number, cwnd: number, delivered: number): void {
    const all = (this.delivered[flow] ??= []);
    all.push(delivered);
    (this.cwnd[flow] ??= []).push(cwnd > 0 ? cwnd : null);
    const before = all[all.length - 1 - this.window] ?? 0;
    const seconds = Math.min(this.window, all.length) * this.opened.sample_s;
    (this.goodput[flow] ??= []).push((8 * (delivered - before)) / seconds);
  }

  /** The delay at which a drop or mark is drawn: the packet's, or the queue's on arrival. */
  delayAt(signal: Signal): number {
    if (signal.stage !== "enqueue") return signal.sojourn_s;
    const delays = this.column("delay_mean");
    let place = Math.floor(signal.t / this.opened.sample_s);
    while (place > 0 && (delays[place] ?? null) === null) place -= 1;
    return delays[place] ?? 0;
  }

  /** The values of a variable so far; empty if it is new. */
  column(name: string): (number | null)[] {
    let column = this.columns.get(name);
    if (!column) {
      column = [];
      this.columns.set(name, column);
    }
    return column;
  }

  /** Goodput summed or cwnd averaged over flows, for each time; cached. */
  combine(what: "goodput" | "cwnd", flows: number[]): (number | null)[] {
    const key = `${what} ${flows.join()}`;
    const values = this.combined.get(key) ?? [];
    this.combined.set(key, values);
    while (values.length < this.times.length) {
      values.push(this.combinedAt(this[what], flows, values.length, what === "cwnd"));
    }
    return values;
  }

  private combinedAt(
    of: (number | null)[][],
    flows: number[],
    place: number,
    mean: boolean,
  ): number | null {
    let [sum, count] = [0, 0];
    for (const flow of flows) {
      const value = of[flow]?.[place];
      if (value === null || value === undefined) continue;
      sum += value;
      count += 1;
    }
    if (count === 0) return null;
    return mean ? sum / count : sum;
  }
}
