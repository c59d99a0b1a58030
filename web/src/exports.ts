// Exports of the page.

import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import type { History } from "./history";
import type { Lab } from "./lab";
import { type Picture, shown } from "./plots";
import { sideColour } from "./theme";

export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function variables(lab: Lab): string[] {
  return [...new Set(lab.sides.flatMap((side) => [...side.columns.keys()]))];
}

/** The same columns as `csv`, with typed numbers. hyparquet-writer is maintained and small. */
export function parquet(lab: Lab): Blob {
  const of = <T>(value: (side: History, row: number, place: number) => T): T[] =>
    lab.sides.flatMap((side, place) => side.times.map((_, row) => value(side, row, place)));
  const columnData: ColumnSource[] = [
    { name: "t_s", data: of((side, row) => side.times[row] ?? 0), type: "DOUBLE" },
    { name: "side", data: of((_side, _row, place) => "AB"[place] ?? ""), type: "STRING" },
    { name: "aqm", data: of((_side, _row, place) => lab.state.aqms[place]), type: "STRING" },
    ...variables(lab).map((name): ColumnSource => {
      const data = of((side, row) => side.columns.get(name)?.[row] ?? null);
      return { name, data, type: "DOUBLE", nullable: true };
    }),
  ];
  return new Blob([parquetWriteBuffer({ columnData })]);
}

/** The samples of both sides: time, side, AQM, then every variable of either; flows have separate
 * rows. */
export function csv(lab: Lab): string {
  const names = variables(lab);
  const quoted = (text: string): string => `"${text.replace(/"/g, '""')}"`;
  const rows = [["t_s", "side", "aqm", ...names].join(",")];
  lab.sides.forEach((side, i) => {
    side.times.forEach((t, row) => {
      const values = names.map((name) => side.columns.get(name)?.[row] ?? "");
      rows.push([t, "AB"[i], quoted(lab.state.aqms[i] ?? ""), ...values].join(","));
    });
  });
  return `${rows.join("\n")}\n`;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [800, 300, 70, 40];

/** A plot as SVG: axes with their ends labelled, one line for each curve. */
export function svg(picture: Picture, end: number): string {
  const { times, curves } = picture;
  const most = Math.max(
    1e-9,
    ...curves.flatMap((curve) => curve.values.map((value) => value ?? 0)),
  );
  const x = (t: number): number => LEFT + (t / Math.max(end, 1e-9)) * (WIDTH - LEFT - 10);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - 30);
  const safe = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const text = (at: [number, number], what: string, more = ""): string =>
    `<text x="${at[0]}" y="${at[1]}" ${more}>${safe(what)}</text>`;
  const lines = curves.map((curve, i) => {
    const points = times.flatMap((t, row) => {
      const value = curve.values[row];
      return value === null || value === undefined
        ? []
        : [`${x(t).toFixed(1)},${y(value).toFixed(1)}`];
    });
    const stroke = sideColour(curve.side);
    const label = text([LEFT + 10 + i * 180, 18], curve.label, `fill="${stroke}"`);
    return `<polyline fill="none" stroke="${stroke}" points="${points.join(" ")}"/>${label}`;
  });
  const axes = `<path d="M${LEFT} 30V${HEIGHT - BOTTOM}H${WIDTH - 10}" fill="none" stroke="#888"/>`;
  const labels = [
    text([LEFT - 6, 36], shown(most, curves[0]?.unit ?? "1"), 'text-anchor="end"'),
    text([LEFT - 6, HEIGHT - BOTTOM], "0", 'text-anchor="end"'),
    text([WIDTH - 10, HEIGHT - 16], shown(end, "s"), 'text-anchor="end"'),
    text([LEFT, HEIGHT - 16], `0 s. ${picture.title}`),
  ];
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  const font = 'font-family="sans-serif" font-size="13" fill="#666"';
  const inner = [axes, ...labels, ...lines].join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>${inner}</svg>\n`;
}

function forShell(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}

/** The command that repeats both runs natively, from the exported scenario. */
export function command(lab: Lab): string {
  const { aqms, seed, changes } = lab.state;
  const name = lab.checked?.name ?? "scenario";
  const link = lab.checked?.watched ?? "bottleneck";
  const runs = aqms.map((aqm) => {
    const queue = forShell(`links.${link}.queue="${aqm}"`);
    return `sojourn run ${name}.toml --set ${queue} --set seed=${seed}`;
  });
  const note =
    changes.length > 0
      ? "\n# Changes in mid-run are the page's alone: its address holds them."
      : "";
  return `${runs.join("\n")}${note}`;
}
