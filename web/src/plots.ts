// Plots of both sides over one time axis, with cursors that move together.

import uPlot from "uplot";
import type { History, Reason } from "./history";
import { colour, sideColour } from "./theme";
import type { Change } from "./url-state";

export interface Curve {
  label: string;
  side: number;
  values: (number | null)[];
  dash?: number[];
  unit: string;
  /** For curves with the same unit but different magnitudes: which of two axes this plot uses;
   * the unit if absent. */
  axis?: string;
}

export interface Picture {
  /** The subject of the plot, for its heading and its table. */
  title: string;
  times: number[];
  curves: Curve[];
}

const HEIGHT = 180;
/** Units as written after a number. */
const SHORT: Record<string, string> = { bytes: "B", packets: "p", "bytes/s": "B/s" };
/** Radius around a click in which drops and marks are found, in pixels. */
const NEAR = 14;
const CURSORS = uPlot.sync("time");

/** A number with three digits, its prefix and unit. */
export function shown(value: number | null | undefined, of: string): string {
  const unit = SHORT[of] ?? of;
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return unit === "1" ? "0" : `0 ${unit}`;
  if (unit === "1")
    return Math.abs(value) < 1e-3
      ? value.toExponential(1)
      : Number(value.toPrecision(3)).toString();
  const steps: [number, string][] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
    [1e-3, "m"],
    [1e-6, "µ"],
  ];
  const size = Math.abs(value);
  const small = unit === "s";
  const [factor, prefix] = steps.find(([f]) => size >= f && (small || f >= 1)) ?? [1, ""];
  return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
}

function axisOf(curve: Curve): string {
  return curve.axis ?? curve.unit;
}

function unitOf(curves: Curve[], axis: string): string {
  return curves.find((curve) => axisOf(curve) === axis)?.unit ?? "1";
}

function sideOf(curves: Curve[], axis: string): number {
  return curves.find((curve) => axisOf(curve) === axis)?.side ?? 0;
}

export class Plot {
  private plot: uPlot | null = null;
  private shape = "";
  private readonly box: HTMLElement;
  private readonly rows: HTMLTableSectionElement;
  private readonly head: HTMLTableRowElement;
  private readonly details: HTMLDetailsElement;
  picture: Picture | null = null;
  private isInView = true;

  constructor(
    readonly figure: HTMLElement,
    private readonly marks: () => { changes: Change[]; sides: History[]; end: number },
    private readonly signals: boolean,
    private readonly onSignal: (side: number, reason: Reason) => void,
  ) {
    this.box = document.createElement("div");
    this.box.className = "plot";
    this.details = document.createElement("details");
    this.details.innerHTML =
      '<summary>Table</summary><div class="scroll" tabindex="0" role="region">' +
      "<table><thead><tr></tr></thead><tbody></tbody></table></div>";
    this.head = this.details.querySelector("tr") as HTMLTableRowElement;
    this.rows = this.details.querySelector("tbody") as HTMLTableSectionElement;
    this.details.addEventListener("toggle", () => this.table());
    figure.append(this.box, this.details);
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(this.box);
    new IntersectionObserver(([entry]) => {
      this.isInView = entry?.isIntersecting ?? true;
      if (this.isInView && this.picture) this.draw(this.picture);
    }).observe(this.box);
    if (signals) this.box.addEventListener("click", (event) => this.click(event));
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(200, this.box.clientWidth), height: HEIGHT };
  }

  /** Discards the drawing, so that the next one has the colours of a new theme. */
  restyle(): void {
    this.shape = "";
    if (this.picture) this.show(this.picture);
  }

  /** Draws the plot; during a run only if it is visible. */
  show(picture: Picture, isRunning = false): void {
    this.picture = picture;
    if (this.isInView || !isRunning) this.draw(picture);
  }

  private draw(picture: Picture): void {
    const shape = picture.curves.map((c) => `${c.label}|${c.side}|${axisOf(c)}`).join();
    const data = [picture.times, ...picture.curves.map((c) => c.values)] as uPlot.AlignedData;
    if (shape !== this.shape || !this.plot) {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(picture), data, this.box);
      this.plot.root.setAttribute("aria-hidden", "true");
      this.shape = shape;
    } else {
      this.plot.setData(data);
    }
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `${picture.title}; the table below has the values`);
    this.details.querySelector(".scroll")?.setAttribute("aria-label", `Table: ${picture.title}`);
    this.table();
  }

  private options(picture: Picture): uPlot.Options {
    const { curves } = picture;
    const scales = [...new Set(curves.map(axisOf))].slice(0, 2);
    const grid = { stroke: colour("grid"), width: 1 };
    const axis = (scale: string, i: number): uPlot.Axis => ({
      scale,
      side: i === 0 ? 3 : 1,
      size: 84,
      stroke: scales.length > 1 ? sideColour(sideOf(curves, scale)) : colour("ink"),
      grid: i === 0 ? grid : { show: false },
      ticks: grid,
      font: "12px system-ui, sans-serif",
      values: (_, values) => values.map((value) => shown(value, unitOf(curves, scale))),
    });
    const time: uPlot.Axis = {
      stroke: colour("ink"),
      grid,
      ticks: grid,
      font: "12px system-ui, sans-serif",
      space: 60,
      values: (_, values) => values.map((value) => `${Number(value.toFixed(6))} s`),
    };
    const series = curves.map((curve): uPlot.Series => ({
      label: curve.label,
      scale: scales.includes(axisOf(curve)) ? axisOf(curve) : (scales[0] ?? "y"),
      stroke: sideColour(curve.side),
      width: 1.5,
      dash: curve.dash ?? [],
      spanGaps: true,
      points: { show: false },
      value: (_, value) => shown(value, curve.unit),
    }));
    const range: uPlot.Range.Function = (_, __, max) => [0, max > 0 ? max * 1.05 : 1];
    return {
      ...this.size(),
      scales: {
        x: { time: false, range: () => [0, Math.max(this.marks().end, 1e-9)] },
        ...Object.fromEntries(scales.map((scale) => [scale, { range }])),
      },
      axes: [time, ...scales.map(axis)],
      series: [
        {
          label: "Time",
          value: (_, value) => (value === null ? "–" : `${Number(value.toFixed(3))} s`),
        },
        ...series,
      ],
      cursor: { sync: { key: CURSORS.key, setSeries: false } },
      legend: {
        live: true,
        markers: { dash: (_, i) => (picture.curves[i - 1]?.dash ? "dashed" : "solid") },
      },
      hooks: { draw: [(plot) => this.drawMarks(plot)] },
    };
  }

  /** Changes in mid-run as lines, drops as crosses, marks as circles. */
  private drawMarks(plot: uPlot): void {
    const { changes, sides } = this.marks();
    const { ctx } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.lineWidth = ratio;
    for (const change of changes) {
      const x = plot.valToPos(change.t, "x", true);
      ctx.strokeStyle = sideColour(change.side);
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, plot.bbox.top);
      ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    if (this.signals) {
      sides.forEach((side, i) => {
        ctx.strokeStyle = sideColour(i);
        ctx.globalAlpha = 0.65;
        ctx.beginPath();
        for (const { signal } of side.signals) {
          const [x, y] = this.place(plot, signal.t, side.delayAt(signal), ratio);
          const r = 3 * ratio;
          if (signal.is_mark) {
            ctx.moveTo(x + r, y);
            ctx.arc(x, y, r, 0, 2 * Math.PI);
          } else {
            ctx.moveTo(x - r, y - r);
            ctx.lineTo(x + r, y + r);
            ctx.moveTo(x - r, y + r);
            ctx.lineTo(x + r, y - r);
          }
        }
        ctx.stroke();
      });
    }
    ctx.restore();
  }

  private place(plot: uPlot, t: number, delay: number, ratio: number): [number, number] {
    const y = plot.valToPos(delay, "s", true);
    const [top, bottom] = [plot.bbox.top + 4 * ratio, plot.bbox.top + plot.bbox.height - 4 * ratio];
    return [plot.valToPos(t, "x", true), Math.min(Math.max(y, top), bottom)];
  }

  /** A click on or near a drop or mark explains it. */
  private click(event: MouseEvent): void {
    const { plot } = this;
    if (!plot) return;
    const edge = plot.over.getBoundingClientRect();
    const ratio = devicePixelRatio;
    const [x, y] = [event.clientX - edge.left, event.clientY - edge.top];
    let best: { far: number; side: number; reason: Reason } | null = null;
    this.marks().sides.forEach((side, i) => {
      for (const reason of side.signals) {
        const { signal } = reason;
        const [px, py] = this.place(plot, signal.t, side.delayAt(signal), ratio);
        const far = Math.hypot((px - plot.bbox.left) / ratio - x, (py - plot.bbox.top) / ratio - y);
        if (far < NEAR && (!best || far < best.far)) best = { far, side: i, reason };
      }
    });
    const found = best as { side: number; reason: Reason } | null;
    if (found) this.onSignal(found.side, found.reason);
  }

  /** Twenty rows of the curves, for users who cannot see them. */
  private table(): void {
    if (!this.details.open || !this.picture) return;
    const { times, curves } = this.picture;
    const cell = (text: string, kind = "td"): HTMLElement => {
      const made = document.createElement(kind);
      made.textContent = text;
      return made;
    };
    const titles = ["Time", ...curves.map((c) => c.label)].map((text) => cell(text, "th"));
    titles.forEach((title) => title.setAttribute("scope", "col"));
    this.head.replaceChildren(...titles);
    const step = Math.max(1, Math.ceil(times.length / 20));
    const rows = times
      .map((_, i) => i)
      .filter((i) => i % step === 0)
      .map((i) => {
        const row = document.createElement("tr");
        row.append(
          cell(`${Number((times[i] ?? 0).toFixed(3))} s`),
          ...curves.map((c) => cell(shown(c.values[i], c.unit))),
        );
        return row;
      });
    this.rows.replaceChildren(...rows);
  }

  /** The drawing as a PNG. */
  png(): Promise<Blob | null> {
    const canvas = this.plot?.ctx.canvas;
    if (!canvas) return Promise.resolve(null);
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const ctx = copy.getContext("2d") as CanvasRenderingContext2D;
    ctx.fillStyle = colour("panel");
    ctx.fillRect(0, 0, copy.width, copy.height);
    ctx.drawImage(canvas, 0, 0);
    return new Promise((resolve) => copy.toBlob(resolve, "image/png"));
  }
}
