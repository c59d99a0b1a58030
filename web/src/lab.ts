// Two runs of one scenario under one seed, advanced together.

import { Client } from "./client";
import { History } from "./history";
import type { Checked, Finished, Opened, Setting, Taken } from "./protocol";
import type { Change, PageState } from "./url-state";

/** Events between two updates of the page, for each side: about 30 ms of the worker. */
const EVENTS_PER_SLICE = 40_000;
/** Maximum number of samples in a plot. */
const MOST_SAMPLES = 6000;
/** Maximum simulated seconds between two frames. */
const LONGEST_SLICE_S = 5;
/** The pace of a run is measured over at most this. */
const PACE_OVER_S = 10;

/** Simulated seconds per second of real time; infinite means as fast as possible. */
export function speedOf(text: string): number {
  return text === "max" ? Infinity : Number(text);
}

/** The warnings of both sides; a warning of only one side has its letter. */
function warningsOf(a: string[], b: string[]): string[] {
  const alone = (letter: string, mine: string[], others: string[]): string[] =>
    mine.filter((text) => !others.includes(text)).map((text) => `${letter}: ${text}`);
  const common = a.filter((text) => b.includes(text));
  return [...common, ...alone("A", a, b), ...alone("B", b, a)];
}

export class Lab {
  sides: History[] = [];
  checked: Checked | null = null;
  isRunning = false;
  /** Whether the sides belong to an earlier state, because those of the present one are being
   * opened. */
  private isOpening = false;
  /** Whether the present state was refused; then the sides belong to an earlier state. */
  isRefused = false;
  files: Record<string, string> = {};
  /** Called when the view must be updated. */
  onUpdate: () => void = () => undefined;
  onFailure: (failure: Error) => void = () => undefined;

  private busy: Promise<void> = Promise.resolve();
  private isBusy = false;
  private last = 0;
  /** Real time in ms and simulated time in s, from which the pace is measured. */
  private paceFrom: [number, number] = [0, 0];
  private applied = 0;

  constructor(
    readonly client: Client,
    public state: PageState,
  ) {}

  setting(side: number): Setting {
    const { text, seed, aqms, link } = this.state;
    const setting = { text, seed, aqm: aqms[side] ?? "", files: this.files };
    return link === undefined ? setting : { ...setting, link };
  }

  get now(): number {
    return this.sides.length > 0 ? Math.min(...this.sides.map((side) => side.now)) : 0;
  }

  get duration(): number {
    return this.sides[0]?.opened.duration_s ?? 0;
  }

  get isOver(): boolean {
    return !this.isOpening && this.sides.length > 0 && this.sides.every((side) => side.isOver);
  }

  /** Serialises requests: a request during a slice waits for its end. */
  private inTurn(act: () => Promise<void>): Promise<void> {
    this.busy = this.busy.then(async () => {
      this.isBusy = true;
      try {
        await act();
      } catch (failure) {
        this.isRunning = false;
        this.onFailure(failure as Error);
      } finally {
        this.isBusy = false;
      }
      this.onUpdate();
    });
    return this.busy;
  }

  /** Back to time zero, with the present state. Changes in mid-run will be applied again. */
  rewind(): Promise<void> {
    this.isRunning = false;
    this.isOpening = true;
    return this.inTurn(() => this.reopen().finally(() => (this.isOpening = false)));
  }

  private async reopen(): Promise<void> {
    const [checked, opened] = await this.checkAndOpen().catch((failure: unknown) => {
      this.isRefused = true;
      throw failure;
    });
    for (const side of this.sides) {
      await this.client.ask({ call: "close", session: side.opened.session });
    }
    this.checked = checked;
    this.sides = opened.map((one) => new History(one));
    this.applied = 0;
    this.isRefused = false;
  }

  private async checkAndOpen(): Promise<[Checked, Opened[]]> {
    const check = (side: number): Promise<Checked> =>
      this.client.ask<Checked>({ call: "check", ...this.setting(side) });
    const [checked, other] = [await check(0), await check(1)];
    checked.warnings = warningsOf(checked.warnings, other.warnings);
    const sample = Math.max(checked.sample_s, checked.duration_s / MOST_SAMPLES);
    return [checked, await this.openBoth(sample)];
  }

  /** Opens a session for each side, or none. */
  private async openBoth(sample_s: number): Promise<Opened[]> {
    const opened: Opened[] = [];
    try {
      for (const side of [0, 1]) {
        const setting = { ...this.setting(side), sample_s };
        opened.push(await this.client.ask<Opened>({ call: "open", ...setting }));
      }
    } catch (failure) {
      for (const { session } of opened) await this.client.ask({ call: "close", session });
      throw failure;
    }
    return opened;
  }

  run(): void {
    if (this.isRunning || this.isRefused || this.isOver || this.sides.length === 0) return;
    this.isRunning = true;
    this.last = performance.now();
    this.paceFrom = [this.last, this.now];
    requestAnimationFrame((time) => this.frame(time));
    this.onUpdate();
  }

  /** Real seconds until the end of the run, at its last pace; null while unknown. */
  private remaining_s(): number | null {
    const [clock, simulated] = this.paceFrom;
    const [passed, done] = [(performance.now() - clock) / 1000, this.now - simulated];
    if (!this.isRunning || passed < 1 || done <= 0) return null;
    const left = ((this.duration - this.now) * passed) / done;
    if (passed > PACE_OVER_S) this.paceFrom = [performance.now(), this.now];
    return left;
  }

  /** The progress of the run and, for a long one, the remaining time. */
  get clock(): string {
    const far = `${this.now.toFixed(3)} s of ${this.duration} s`;
    const left = this.remaining_s();
    if (left === null || left < 10) return far;
    const long = left < 100 ? `${left.toFixed(0)} s` : `${(left / 60).toFixed(0)} min`;
    return `${far}, ${long} left`;
  }

  pause(): void {
    this.isRunning = false;
    this.onUpdate();
  }

  /** Discards the record of mid-run changes: both sides start with their last AQMs. */
  forget(): void {
    const { changes, aqms } = this.state;
    for (const change of changes) aqms[change.side] = change.aqm;
    this.state.changes = [];
  }

  private frame(time: number): void {
    if (!this.isRunning) return;
    requestAnimationFrame((next) => this.frame(next));
    if (this.isBusy) return;
    const passed = Math.max(0, Math.min((time - this.last) / 1000, 0.25));
    this.last = time;
    const ahead = Math.min(passed * speedOf(this.state.speed), LONGEST_SLICE_S);
    if (ahead > 0) void this.inTurn(() => this.advance(this.now + ahead));
  }

  /** Advances both sides to a time, or by the events of one slice. */
  private async advance(until: number): Promise<void> {
    const change = this.state.changes[this.applied];
    const end = Math.min(until, change?.t ?? Infinity, this.duration);
    for (const side of this.sides) {
      if (side.isOver || (side.now >= end && end < this.duration)) continue;
      const { session } = side.opened;
      const events = EVENTS_PER_SLICE;
      side.add(await this.client.ask<Taken>({ call: "advance", session, until_s: end, events }));
    }
    if (change && this.now >= change.t) await this.apply(change);
    if (this.isOver) await this.finish();
  }

  /** Brings both sides to the same time, which is returned. */
  private async level(): Promise<number> {
    const t = Math.max(...this.sides.map((side) => side.now));
    while (this.now < t && !this.isOver) await this.advance(t);
    return t;
  }

  private async apply(change: Change): Promise<void> {
    this.applied += 1;
    const side = this.sides[change.side];
    if (!side || side.isOver) return;
    const { session } = side.opened;
    const changed = await this.client.ask<{ before: Taken; vars: History["vars"] }>({
      call: "set_queue",
      session,
      aqm: change.aqm,
    });
    side.add(changed.before);
    side.vars = changed.vars;
  }

  private async finish(): Promise<void> {
    this.isRunning = false;
    for (const side of this.sides) {
      if (side.finished) continue;
      const { session } = side.opened;
      side.finished = await this.client.ask<Finished>({ call: "finish", session });
    }
  }

  /** Advances to the next arrival or departure at side A's queue, and B to the same time. */
  stepPacket(): Promise<void> {
    this.isRunning = false;
    return this.inTurn(async () => {
      const [first, second] = this.sides;
      if (!first || !second || this.isRefused || first.isOver) return;
      const { session } = first.opened;
      first.add(await this.client.ask<Taken>({ call: "step_packet", session }));
      await this.advance(first.now);
    });
  }

  /** Sets another AQM on one side now, and remembers that for the next run. */
  change(side: number, aqm: string): Promise<void> {
    return this.inTurn(async () => {
      const t = await this.level();
      const later = this.state.changes.slice(this.applied);
      const change = { t, side, aqm };
      await this.client.ask({ call: "check", ...this.setting(side), aqm });
      this.state.changes = [...this.state.changes.slice(0, this.applied), change, ...later];
      await this.advance(t);
    });
  }
}
