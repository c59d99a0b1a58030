// The page of `sojourn router --live`: its reports, received through a WebSocket on the loopback
// interface. The part of the address after `#` is the router's token.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import uPlot from "uplot";
import { by } from "./dom";
import { shown } from "./plots";
import { colour, sideColour } from "./theme";

interface Path {
  name: string;
  throughput_bps: number;
  queue?: {
    delay_mean_s: number | null;
    delay_max_s: number | null;
    backlog_packets: number;
    dropped: number;
    marked: number;
  } | null;
}

interface Report {
  t_s: number;
  paths: Path[];
}

type Message = Report | { begun: unknown };
type Value = number | null;
/** Name, side whose colour it has, dashes. */
type Label = [string, number, number[]?];

const HEIGHT = 220;
/** Limit of stored reports: an hour at two per second. */
const MOST_REPORTS = 7200;

/** One plot over time with a curve for each path and kind of value. */
class Series {
  private readonly values: Value[][];
  private readonly plot: uPlot;

  constructor(place: HTMLElement, labels: Label[], unit: string) {
    this.values = labels.map(() => []);
    const ink = { stroke: colour("ink"), grid: { stroke: colour("grid"), width: 1 } };
    const seconds = (_plot: uPlot, values: number[]): string[] => values.map((v) => `${v} s`);
    const units = (_plot: uPlot, values: number[]): string[] => values.map((v) => shown(v, unit));
    const range = (_plot: uPlot, _least: number, most: number): [number, number] => [
      0,
      most > 0 ? most * 1.05 : 1,
    ];
    const series = labels.map(([label, side, dash]): uPlot.Series => {
      const look = { width: 1.5, spanGaps: true, points: { show: false } };
      const line = { label, stroke: sideColour(side), ...look };
      const value = (_plot: uPlot, v: Value): string => shown(v, unit);
      return { ...line, value, ...(dash ? { dash } : {}) };
    });
    const options: uPlot.Options = {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { x: { time: false }, y: { range } },
      axes: [
        { ...ink, values: seconds, space: 60 },
        { ...ink, values: units, size: 80 },
      ],
      series: [
        { label: "Time", value: (_plot, v: Value) => (v === null ? "–" : `${v.toFixed(1)} s`) },
        ...series,
      ],
      legend: { markers: { dash: (_plot, i) => (series[i - 1]?.dash ? "dashed" : "solid") } },
    };
    this.plot = new uPlot(options, [[], ...this.values] as uPlot.AlignedData, place);
    new ResizeObserver(() => {
      if (place.clientWidth > 0) this.plot.setSize({ width: place.clientWidth, height: HEIGHT });
    }).observe(place);
  }

  add(times: number[], row: Value[]): void {
    this.values.forEach((column, i) => {
      column.push(row[i] ?? null);
      if (column.length > MOST_REPORTS) column.shift();
    });
    this.plot.setData([times, ...this.values]);
  }
}

const times: number[] = [];
let plots: [Series, (path: Path) => Value[]][] = [];

function plotsOf(paths: Path[]): typeof plots {
  const each = paths.map(({ name }, side): Label => [name, side]);
  const both = paths.flatMap(({ name }, side): Label[] => [
    [`${name} dropped`, side],
    [`${name} marked`, side, [6, 4]],
  ]);
  return [
    [new Series(by("delay"), each, "s"), ({ queue }) => [queue?.delay_mean_s ?? null]],
    [new Series(by("rate"), each, "bit/s"), (path) => [path.throughput_bps]],
    [
      new Series(by("lost"), both, "packets"),
      ({ queue }) => [queue?.dropped ?? null, queue?.marked ?? null],
    ],
  ];
}

function numbers(paths: Path[]): void {
  const rows = paths.map(({ name, throughput_bps, queue }) => {
    const row = document.createElement("tr");
    const cells = [
      name,
      shown(throughput_bps, "bit/s"),
      shown(queue?.delay_mean_s, "s"),
      shown(queue?.delay_max_s, "s"),
      ...[queue?.backlog_packets, queue?.dropped, queue?.marked].map((n) => String(n ?? "–")),
    ];
    for (const text of cells) row.insertCell().textContent = text;
    return row;
  });
  by("numbers").replaceChildren(...rows);
}

function take(message: Message): void {
  if (!("paths" in message)) return;
  const { t_s, paths } = message;
  if (plots.length === 0) plots = plotsOf(paths);
  times.push(t_s);
  if (times.length > MOST_REPORTS) times.shift();
  for (const [series, values] of plots) series.add(times, paths.flatMap(values));
  numbers(paths);
  by("message").textContent = `${t_s.toFixed(1)} s`;
}

const token = location.hash.slice(1);
const socket = new WebSocket(`ws://${location.host}/reports`);
socket.onopen = () => socket.send(token);
socket.onmessage = (event: MessageEvent<string>) => take(JSON.parse(event.data) as Message);
socket.onclose = ({ code }) => {
  by("message").textContent =
    code === 1008
      ? "The router refused the token; open the address that it printed."
      : `The router has ended${times.length > 0 ? ` at ${by("message").textContent}` : ""}.`;
};
