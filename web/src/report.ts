// A report of `sojourn compare` where the browser runs script: its figures can be explored, its
// runs played on the live page, which the report holds.

import "uplot/dist/uPlot.min.css";
import "./report.css";
import uPlot from "uplot";
import { element } from "./dom";
import { unpacked } from "./packed";
import { encode } from "./url-state";

interface Curve {
  label: string;
  /** Its colour is `--series-N` of the report. */
  colour: number;
  x: number[];
  y: (number | null)[];
}

interface Figure {
  name: string;
  x: string;
  y: string;
  dots: boolean;
  curves: Curve[];
}

interface Play {
  text: string;
  link: string;
  aqms: string[];
  seeds: string[];
}

const HEIGHT = 340;
/** As many as the report has colours. */
const COLOURS = 14;

function paint(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Dots at the ends of an axis are not cut in half. */
function roomy(_plot: uPlot, least: number, most: number): [number, number] {
  const room = 0.05 * (most - least || most);
  return [least - room, most + room];
}

/** One figure: the drawing, or the plot in its place. */
class Explorer {
  private plot: uPlot | null = null;
  private readonly box = element("div", { className: "explored", hidden: true });
  private readonly logs: HTMLInputElement[] = [];

  constructor(
    private readonly figure: Figure,
    private readonly place: HTMLElement,
  ) {
    const button = element("button", { textContent: "Explore", type: "button" });
    button.onclick = () => {
      this.box.hidden = !this.box.hidden;
      const drawing = this.place.querySelector<SVGElement>(":scope > svg");
      if (drawing) drawing.style.display = this.box.hidden ? "" : "none";
      button.textContent = this.box.hidden ? "Explore" : "As printed";
      if (!this.box.hidden) this.draw();
    };
    const bar = element("p", { className: "bar" });
    for (const axis of ["x", "y"]) {
      const check = element("input", { type: "checkbox" });
      check.onchange = () => this.draw();
      this.logs.push(check);
      bar.append(element("label", {}, check, ` log ${axis}`));
    }
    bar.append(element("span", {}, "Drag to zoom, click twice for all, click a name to hide it."));
    this.box.append(bar);
    const caption = this.place.querySelector("figcaption");
    this.place.insertBefore(this.box, caption);
    this.place.insertBefore(button, caption);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.fit()).observe(this.box);
  }

  private fit(): void {
    if (this.plot && this.box.clientWidth > 0 && this.plot.width !== this.box.clientWidth)
      this.plot.setSize({ width: this.box.clientWidth, height: HEIGHT });
  }

  private redraw(): void {
    if (!this.box.hidden) this.draw();
  }

  private draw(): void {
    const { dots } = this.figure;
    const [logX, logY] = this.logs.map((check) => check.checked);
    // What is not above zero has no place on a logarithmic axis.
    const tables = this.figure.curves.map(({ x, y }): uPlot.AlignedData => {
      const kept = x.flatMap((value, i) => (logX && value <= 0 ? [] : [i]));
      const ys = kept.map((i) => y[i] ?? null);
      return [kept.map((i) => x[i] ?? 0), ys.map((v) => (logY && v !== null && v <= 0 ? null : v))];
    });
    const axis = (label: string): uPlot.Axis => ({
      label,
      stroke: paint("--ink"),
      grid: { stroke: paint("--grid"), width: 1 },
      ticks: { stroke: paint("--grid") },
    });
    const options: uPlot.Options = {
      width: this.box.clientWidth,
      height: HEIGHT,
      scales: {
        x: { time: false, distr: logX ? 3 : 1, ...(dots && !logX ? { range: roomy } : {}) },
        y: { distr: logY ? 3 : 1 },
      },
      axes: [axis(this.figure.x), axis(this.figure.y)],
      series: [{ label: this.figure.x }, ...this.figure.curves.map((one) => this.series(one))],
      cursor: { drag: { x: true, y: true, uni: 30 } },
    };
    this.plot?.destroy();
    this.plot = new uPlot(options, uPlot.join(tables), this.box);
  }

  private series({ label, colour }: Curve): uPlot.Series {
    const stroke = paint(`--series-${colour % COLOURS}`);
    const dots = { paths: () => null, points: { show: true, size: 7, fill: stroke } };
    return { label, stroke, width: 1.5, spanGaps: true, ...(this.figure.dots ? dots : {}) };
  }
}

async function livePage(): Promise<string> {
  const packed = document.getElementById("live-page")?.textContent ?? "";
  const text = await unpacked(packed).text();
  return URL.createObjectURL(new Blob([text], { type: "text/html" }));
}

function choice(label: string, values: string[], chosen: string): [HTMLElement, () => string] {
  const select = element("select", {}, ...values.map((value) => new Option(value, value)));
  select.value = chosen;
  select.ariaLabel = label; // a label's text would be that of all its options
  return [element("label", {}, `${label} `, select), () => select.value];
}

/** The button that opens the live page at a run of the report. */
function player(play: Play): HTMLElement {
  const box = element("div", { className: "card play" });
  const [first = "", second = first] = play.aqms;
  const [a, aqmA] = choice("A", play.aqms, first);
  const [b, aqmB] = choice("B", play.aqms, second);
  const [s, seed] = choice("Seed", play.seeds, play.seeds[0] ?? "");
  const button = element("button", { textContent: "Play this run", type: "button" });
  let address: Promise<string> | null = null;
  button.onclick = async () => {
    const { text, link } = play;
    const aqms: [string, string] = [aqmA(), aqmB()];
    const state = { text, link, aqms, seed: seed(), speed: "5", changes: [] };
    address ??= livePage();
    window.open(`${await address}#${await encode(state)}`);
  };
  box.append(a, b, s, button);
  return box;
}

const text = document.getElementById("report-data")?.textContent ?? "{}";
const { figures, play } = JSON.parse(text) as { figures: Figure[]; play: Play | null };
for (const figure of figures) {
  const place = document.getElementById(`figure-${figure.name}`);
  if (place) new Explorer(figure, place);
}
if (play) document.querySelector(".figures")?.before(player(play));
