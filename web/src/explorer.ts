// A figure of a report as an interactive plot: the axes, bands, dashes and markers of the printed
// one, a cursor shared by all plots over the same quantity, and time series that open from its
// points.

import uPlot from "uplot";
import { element } from "./dom";

/** The key of an AQM in every figure; its colour is `--series-N` of the report. */
export interface Key {
  colour: number;
  /** In line widths; empty for a solid line. */
  dash: number[];
  /** An SVG path around the origin. */
  shape: string;
}

export interface Curve {
  aqm: string;
  x: (number | null)[];
  y: (number | null)[];
  low?: number[];
  high?: number[];
  /** The seed of each point. */
  seeds?: number[];
}

interface Axis {
  label: string;
  log: boolean;
  reversed?: boolean;
}

export interface Figure {
  name: string;
  cursor: string;
  x: Axis;
  y: Axis;
  curves: Curve[];
}

/** The delay over time of a run. */
export interface Run {
  aqm: string;
  seed: number;
  x: (number | null)[];
  y: (number | null)[];
}

const COLUMN = 420;
/** Radius around a click in which points are found, in pixels. */
const NEAR = 16;

function paint(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Margin around the values, so that points at the ends of an axis are not clipped. */
function roomy(log: boolean): uPlot.Range.Function {
  return (_plot, least, most) => {
    if (log) return [least / 1.15, most * 1.15];
    const room = 0.05 * (most - least || most);
    return [least - room, most + room];
  };
}

/** Ticks of a logarithmic axis, all of which are labelled: 1, 2, 5 up to three decades. */
function logTicks(_plot: uPlot, _axis: number, least: number, most: number): number[] {
  const decades = Math.log10(most / least);
  const steps = decades > 3 ? [1] : decades > 0.6 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power++)
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= least && tick <= most) ticks.push(tick);
    }
  return ticks;
}

/** A line and a marker as in the figures and tables of the report. */
function keyOf({ colour, dash, shape }: Key): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "key");
  svg.setAttribute("viewBox", "0 0 28 10");
  svg.style.color = `var(--series-${colour})`;
  const strokes = dash.length > 0 ? dash.map((length) => 2 * length).join(" ") : "none";
  for (const [d, more] of [
    ["M1 5H27", { "stroke-width": "2", stroke: "currentColor", "stroke-dasharray": strokes }],
    [shape, { transform: "translate(14 5)", fill: "currentColor" }],
  ] as const) {
    const path = document.createElementNS(svg.namespaceURI, "path");
    for (const [name, value] of Object.entries({ d, ...more })) path.setAttribute(name, value);
    svg.append(path);
  }
  return svg;
}

/** Draws the points of a series with the marker of its AQM. */
function shaped(shape: string): uPlot.Series.Points.PathBuilder {
  const marker = new Path2D(shape);
  return (plot, series, from, to) => {
    const fill = new Path2D();
    const [xs, ys] = [plot.data[0], plot.data[series] ?? []];
    for (let i = from; i <= to; i++) {
      const y = ys[i];
      if (y === null || y === undefined) continue;
      const [left, top] = [plot.valToPos(xs[i] ?? 0, "x", true), plot.valToPos(y, "y", true)];
      fill.addPath(marker, new DOMMatrix().translate(left, top).scale(1.15 * devicePixelRatio));
    }
    return {
      stroke: null,
      fill,
      flags: 2,
    } as unknown as ReturnType<uPlot.Series.Points.PathBuilder>;
  };
}

/** A plot with its box, which it fills. */
export class Chart {
  readonly box = element("div", { className: "chart" });
  private plot: uPlot | null = null;

  constructor(
    private readonly figure: Figure,
    private readonly keys: Record<string, Key>,
    private readonly onPoint: ((aqm: string, seed: number) => void) | null = null,
  ) {
    new ResizeObserver(() => this.fit()).observe(this.box);
    if (onPoint) this.box.addEventListener("click", (event) => this.click(event));
  }

  private size(): { width: number; height: number } {
    const width = this.box.clientWidth;
    return { width, height: width < COLUMN ? 260 : 340 };
  }

  private fit(): void {
    if (this.plot && this.box.clientWidth > 0 && this.plot.width !== this.box.clientWidth)
      this.plot.setSize(this.size());
  }

  draw(logX: boolean, logY: boolean): void {
    const { curves } = this.figure;
    // Values up to zero cannot be shown on a logarithmic axis.
    const tables = curves.map(({ x, y, low, high }): uPlot.AlignedData => {
      const kept = x.flatMap((value, i) => (value === null || (logX && value <= 0) ? [] : [i]));
      const of = (values: (number | null)[]): (number | null)[] =>
        kept.map((i) => values[i] ?? null).map((v) => (logY && v !== null && v <= 0 ? null : v));
      const bands = low && high ? [of(low), of(high)] : [];
      return [kept.map((i) => x[i] as number), of(y), ...bands];
    });
    this.plot?.destroy();
    this.plot = new uPlot(this.options(logX, logY), uPlot.join(tables), this.box);
  }

  private options(logX: boolean, logY: boolean): uPlot.Options {
    const { x, y, curves, cursor } = this.figure;
    const axis = (label: string, log: boolean): uPlot.Axis => ({
      label,
      ...(log ? { splits: logTicks, filter: (_, ticks) => ticks } : {}),
      stroke: paint("--ink"),
      grid: { stroke: paint("--grid"), width: 1 },
      ticks: { stroke: paint("--grid") },
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      values: (_, values) =>
        values.map((v) => (v === null ? "" : String(Number(v.toPrecision(6))))),
    });
    const dots = curves.some((curve) => curve.seeds);
    const series: uPlot.Series[] = [{ label: x.label }];
    const bands: uPlot.Band[] = [];
    const owners = [""];
    for (const curve of curves) {
      series.push(this.series(curve));
      owners.push(curve.aqm);
      if (!curve.low) continue;
      // A series with a band is followed by the band's lower and upper edge.
      bands.push({ series: [series.length + 1, series.length], fill: `${this.colour(curve)}2e` });
      for (const edge of ["low", "high"]) {
        series.push({ label: `${curve.aqm} ${edge}`, class: "edge", points: { show: false } });
        owners.push("");
      }
    }
    const isEdge = (i: number): boolean => series[i]?.class === "edge";
    return {
      ...this.size(),
      scales: {
        x: {
          time: false,
          distr: logX ? 3 : 1,
          dir: x.reversed ? -1 : 1,
          ...(dots || logX ? { range: roomy(logX) } : {}),
        },
        y: { distr: logY ? 3 : 1, ...(dots || logY ? { range: roomy(logY) } : {}) },
      },
      axes: [axis(x.label, logX), { ...axis(y.label, logY), size: 60 }],
      series,
      bands,
      cursor: {
        drag: { x: true, y: true, uni: 30 },
        sync: { key: cursor, setSeries: false },
        points: { size: (_, i) => (isEdge(i) ? 0 : 7) },
      },
      hooks: {
        ready: [
          (plot) =>
            plot.root.querySelectorAll(".u-series").forEach((row, i) => {
              const key = this.keys[owners[i] ?? ""];
              if (isEdge(i)) row.remove();
              if (key) row.querySelector(".u-marker")?.replaceWith(keyOf(key));
            }),
        ],
        setSeries: [
          (plot, i, options) => {
            if (i === null || isEdge(i) || options.show === undefined) return;
            for (let edge = i + 1; isEdge(edge); edge++) plot.setSeries(edge, options);
          },
        ],
      },
    };
  }

  private colour({ aqm }: Curve): string {
    return paint(`--series-${this.keys[aqm]?.colour ?? 0}`);
  }

  private series(curve: Curve): uPlot.Series {
    const stroke = this.colour(curve);
    const { dash = [], shape = "" } = this.keys[curve.aqm] ?? {};
    const label =
      curve.seeds?.length === 1 ? `${curve.aqm}, seed ${curve.seeds[0] ?? ""}` : curve.aqm;
    const width = 1.75;
    if (this.figure.x.reversed) {
      const points = { show: true, size: 8, fill: stroke, paths: shaped(shape) };
      return { label, stroke, width, paths: () => null, points };
    }
    const strokes = dash.length > 0 ? { dash: dash.map((length) => length * width) } : {};
    return { label, stroke, width, ...strokes, spanGaps: true, points: { show: false } };
  }

  /** Opens the run of the point that is nearest to a click. */
  private click(event: MouseEvent): void {
    const { plot } = this;
    if (!plot || !this.onPoint) return;
    const edge = plot.over.getBoundingClientRect();
    const [left, top] = [event.clientX - edge.left, event.clientY - edge.top];
    let best: { far: number; aqm: string; seed: number } | null = null;
    for (const { aqm, x, y, seeds = [] } of this.figure.curves) {
      seeds.forEach((seed, i) => {
        const place = [plot.valToPos(x[i] ?? 0, "x"), plot.valToPos(y[i] ?? 0, "y")] as const;
        const far = Math.hypot(place[0] - left, place[1] - top);
        if (far < NEAR && (!best || far < best.far)) best = { far, aqm, seed };
      });
    }
    const found = best as { aqm: string; seed: number } | null;
    if (found) this.onPoint(found.aqm, found.seed);
  }
}

/** One figure: the drawing, or the plot in its place. */
export class Explorer {
  private readonly box = element("div", { className: "explored", hidden: true });
  private readonly logs: HTMLInputElement[];
  private readonly chart: Chart;
  private readonly opened: Run[] = [];
  private readonly series = element("div");
  private readonly choice = element("select", { ariaLabel: "Time series of a run" });

  constructor(
    figure: Figure,
    private readonly keys: Record<string, Key>,
    private readonly runs: Run[],
    private readonly place: HTMLElement,
  ) {
    const hasPoints = figure.curves.some((curve) => curve.seeds) && runs.length > 0;
    const open = (aqm: string, seed: number): void => this.toggle(aqm, seed);
    this.chart = new Chart(figure, keys, hasPoints ? open : null);
    this.logs = [figure.x, figure.y].map((axis) => this.check(axis.log));
    const button = element("button", { textContent: "Explore", type: "button" });
    button.onclick = () => {
      this.box.hidden = !this.box.hidden;
      this.place.classList.toggle("is-explored", !this.box.hidden);
      button.textContent = this.box.hidden ? "Explore" : "As printed";
      this.draw();
    };
    const bar = element("p", { className: "bar" });
    this.logs.forEach((check, i) =>
      bar.append(element("label", {}, check, ` log ${"xy"[i] ?? ""}`)),
    );
    bar.append(element("span", {}, "Drag to zoom, click twice for all, click a name to hide it."));
    this.box.append(bar, this.chart.box);
    if (hasPoints) this.box.append(this.chooser(), this.series);
    const caption = this.place.querySelector("figcaption");
    this.place.insertBefore(this.box, caption);
    this.place.insertBefore(button, caption);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  private check(checked: boolean): HTMLInputElement {
    const made = element("input", { type: "checkbox", checked });
    made.onchange = () => this.draw();
    return made;
  }

  private draw(): void {
    if (this.box.hidden) return;
    this.chart.draw(this.logs[0]?.checked ?? false, this.logs[1]?.checked ?? false);
    this.drawSeries();
  }

  /** Opens time series without a pointer, as a click on a point does. */
  private chooser(): HTMLElement {
    this.choice.append(new Option("a run", ""));
    this.runs.forEach(({ aqm, seed }, i) =>
      this.choice.append(new Option(`${aqm}, seed ${seed}`, String(i))),
    );
    this.choice.onchange = () => {
      const run = this.runs[Number(this.choice.value)];
      if (this.choice.value !== "" && run) this.toggle(run.aqm, run.seed);
      this.choice.value = "";
    };
    return element(
      "p",
      { className: "bar" },
      "Click a point to open its time series, or choose ",
      this.choice,
    );
  }

  private toggle(aqm: string, seed: number): void {
    const at = this.opened.findIndex((run) => run.aqm === aqm && run.seed === seed);
    const run = this.runs.find((each) => each.aqm === aqm && each.seed === seed);
    if (at >= 0) this.opened.splice(at, 1);
    else if (run) this.opened.push(run);
    this.drawSeries();
  }

  private drawSeries(): void {
    this.series.replaceChildren();
    if (this.opened.length === 0) return;
    const close = element("button", { textContent: "Close", type: "button" });
    close.onclick = () => {
      this.opened.length = 0;
      this.drawSeries();
    };
    const curves = this.opened.map(({ aqm, seed, x, y }) => ({ aqm, x, y, seeds: [seed] }));
    const [time, delay] = ["time [s]", "queue delay [ms]"];
    const axes = { x: { label: time, log: false }, y: { label: delay, log: true } };
    const chart = new Chart({ name: "run", cursor: "time", ...axes, curves }, this.keys);
    this.series.append(
      element("p", { className: "bar" }, "Queue delay over time", close),
      chart.box,
    );
    chart.draw(false, true);
  }
}
