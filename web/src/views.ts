// The views of a run: four plots and two queues.

import { by } from "./dom";
import type { Reason } from "./history";
import type { Lab } from "./lab";
import { type Curve, type Picture, Plot } from "./plots";
import { QueueView } from "./queue-view";

const DASH = [6, 4];
const MOST_FLOWS = 8;
/** The variable shown at first: the first of these that an AQM has. */
const TELLING = [
  "drop_prob",
  "highest_prob",
  "count",
  "active_queues",
  "avg_queue",
  "backlog_bytes",
];

export class Views {
  private readonly delay: Plot;
  private readonly state: Plot;
  private readonly rate: Plot;
  private readonly cwnd: Plot;
  private readonly queues: QueueView[];
  private readonly flows = by<HTMLSelectElement>("flows");
  private readonly vars = [by<HTMLSelectElement>("var-a"), by<HTMLSelectElement>("var-b")];
  private chosen = ["", ""];

  constructor(
    private readonly lab: Lab,
    onSignal: (side: number, reason: Reason) => void,
  ) {
    const marks = () => ({ changes: lab.state.changes, sides: lab.sides, end: lab.duration });
    const plot = (id: string, signals = false): Plot => new Plot(by(id), marks, signals, onSignal);
    this.delay = plot("delay", true);
    this.state = plot("state");
    this.rate = plot("rate");
    this.cwnd = plot("cwnd");
    this.queues = ["a", "b"].map((side) => new QueueView(by(`queue-${side}`), side.toUpperCase()));
    this.flows.onchange = () => this.show();
    this.vars.forEach(
      (select, i) =>
        (select.onchange = () => {
          this.chosen[i] = select.value;
          this.show();
        }),
    );
  }

  restyle(): void {
    [this.delay, this.state, this.rate, this.cwnd].forEach((plot) => plot.restyle());
  }

  delayPng(): Promise<Blob | null> {
    return this.delay.png();
  }

  get delayPicture(): Picture | null {
    return this.delay.picture;
  }

  /** Groups of flows, then the flows of each. */
  flowChoices(): void {
    const groups = this.lab.sides[0]?.opened.groups ?? [];
    const each = groups.map((group, i) => new Option(`each flow of ${group.name}`, String(i)));
    this.flows.replaceChildren(new Option("groups", ""), ...each);
  }

  show(): void {
    const { sides } = this.lab;
    if (sides.length === 0) return;
    const times =
      (sides[0]?.times.length ?? 0) <= (sides[1]?.times.length ?? 0)
        ? sides[0]?.times
        : sides[1]?.times;
    const common = times ?? [];
    const cut = (values: (number | null)[]): (number | null)[] => values.slice(0, common.length);
    const names = ["A", "B"];
    const delays = sides.map((side, i): Curve => ({
      label: `${names[i] ?? ""} queue delay`,
      side: i,
      values: cut(side.column("delay_mean")),
      unit: "s",
    }));
    const running = this.lab.isRunning;
    this.delay.show({ title: "Queue delay", times: common, curves: delays }, running);
    this.varChoices();
    const states = sides.flatMap((side, i): Curve[] => {
      const of = side.vars.find((one) => one.name === this.vars[i]?.value);
      return of
        ? [
            {
              label: `${names[i] ?? ""} ${of.name}`,
              side: i,
              values: cut(side.column(of.name)),
              unit: of.unit,
              // Next to a count, a probability would be invisible.
              axis: `${of.unit} of ${of.name}`,
            },
          ]
        : [];
    });
    this.state.show({ title: "State of the AQM", times: common, curves: states }, running);
    const rates = this.ofFlows("goodput", "bit/s", cut);
    this.rate.show({ title: "Goodput", times: common, curves: rates }, running);
    const over = sides[0]?.goodputOver ?? 0;
    by("goodput-over").textContent =
      `mean over ${Number(over.toPrecision(2))} s, delivered in order`;
    const windows = this.ofFlows("cwnd", "bytes", cut);
    this.cwnd.show({ title: "Congestion window", times: common, curves: windows }, running);
    sides.forEach((side, i) => this.queues[i]?.show(side));
  }

  /** The variables of each side; the first choice is the drop probability or the law's first. */
  private varChoices(): void {
    this.lab.sides.forEach((side, i) => {
      const select = this.vars[i];
      const names = side.vars.map((of) => of.name);
      if (!select || select.dataset.names === names.join()) return;
      select.dataset.names = names.join();
      select.replaceChildren(...side.vars.map((of) => new Option(`${of.name}`, of.name)));
      const best = TELLING.find((name) => names.includes(name));
      select.value = names.includes(this.chosen[i] ?? "")
        ? (this.chosen[i] ?? "")
        : (best ?? names[0] ?? "");
    });
  }

  private ofFlows(
    what: "goodput" | "cwnd",
    unit: string,
    cut: (v: (number | null)[]) => (number | null)[],
  ): Curve[] {
    const curves: Curve[] = [];
    this.lab.sides.forEach((side, i) => {
      const name = i === 0 ? "A" : "B";
      const add = (label: string, flows: number[], place: number): void => {
        const values = cut(side.combine(what, flows));
        if (what === "cwnd" && values.every((value) => value === null)) return;
        const dash = place === 0 ? {} : { dash: DASH.map((length) => length / place) };
        curves.push({ label: `${name} ${label}`, side: i, values, unit, ...dash });
      };
      if (this.flows.value === "") {
        side.opened.groups.forEach((group, g) => add(group.name, side.flowsOf(g), g));
      } else {
        side
          .flowsOf(Number(this.flows.value))
          .slice(0, MOST_FLOWS)
          .forEach((flow, place) => add(side.groupOf(flow), [flow], place));
      }
    });
    return curves;
  }
}
