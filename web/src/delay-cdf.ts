// The cumulative distribution of the queue delay of both sides.

import type { Lab } from "./lab";
import { METRICS } from "./metric-table";
import { shown } from "./plots";
import type { Finished } from "./protocol";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [560, 300, 64, 14, 14, 50];
/** Room for the label of a delay. */
const LABEL = 72;
/** Shorter delays are drawn at this one. */
const SHORTEST_S = 1e-4;
/** Quantiles of queue delay by the name in the summary, as the native command prints them. */
const QUANTILES = Object.entries(METRICS).flatMap(([name, { quantile }]): [string, number][] =>
  name.startsWith("delay_") && quantile !== undefined ? [[name, quantile]] : [],
);

function quantiles(run: Finished, link: string): [number, number][] {
  return QUANTILES.flatMap(([metric, share]): [number, number][] => {
    const row = run.summary.find((r) => r[0] === "queue" && r[1] === link && r[2] === metric);
    const value = row?.[3];
    return value === null || value === undefined ? [] : [[value, share]];
  });
}

/** Decades and their halves between two delays. */
function ticks(least: number, most: number): number[] {
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; power++)
    for (const step of [1, 3]) all.push(step * 10 ** power);
  return all.filter((value) => value >= least * 0.999 && value <= most);
}

/** A drawing, logarithmic in the delay; null if no packet left the queue. */
export function delayCdf(lab: Lab, runs: [Finished, Finished]): SVGElement | null {
  const curves = runs.map((run) => run.delay_cdf);
  const delays = curves.flat().map(([delay]) => Math.max(delay, SHORTEST_S));
  if (delays.length === 0) return null;
  const [least, most] = [Math.min(...delays), 1.1 * Math.max(...delays)];
  const x = (delay: number): string => {
    const part = Math.log(Math.max(delay, SHORTEST_S) / least) / Math.log(most / least);
    return (LEFT + part * (WIDTH - LEFT - RIGHT)).toFixed(1);
  };
  const y = (share: number): string =>
    (HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)).toFixed(1);
  let taken = -Infinity;
  const grid = ticks(least, most).map((delay) => {
    const at = Number(x(delay));
    const isLast = at > WIDTH - 3 * RIGHT;
    const isFirst = at < LEFT + LABEL / 2; // to the left is "0 %"
    const line = `<path d="M${at} ${y(0)}V${y(1)}" stroke="var(--line)"/>`;
    // A label that would overlap the previous one is left out.
    const from = isFirst ? at : isLast ? at - LABEL : at - LABEL / 2;
    const to = from + LABEL;
    if (from < taken) return line;
    taken = to;
    const anchor = isFirst ? "start" : isLast ? "end" : "middle";
    return (
      `${line}<text x="${at}" y="${HEIGHT - BOTTOM + 18}" text-anchor="${anchor}">` +
      `${shown(delay, "s")}</text>`
    );
  });
  const shares = [0, 0.5, 1].map(
    (share) =>
      `<path d="M${LEFT} ${y(share)}H${WIDTH - RIGHT}" stroke="var(--line)"/>` +
      `<text x="${LEFT - 6}" y="${Number(y(share)) + 4}" text-anchor="end">${share * 100} %</text>`,
  );
  const lines = runs.flatMap((run, side) => {
    const paint = `var(--${"ab"[side] ?? ""})`;
    // The share jumps at each delay and is constant between them.
    const steps = run.delay_cdf.map(([delay, share]) => `H${x(delay)}V${y(share)}`).join("");
    const first = run.delay_cdf[0];
    const line = first
      ? `<path d="M${x(first[0])} ${y(0)}${steps}" fill="none" stroke="${paint}" stroke-width="2"/>`
      : "";
    const link = lab.sides[side]?.opened.link ?? "";
    const dots = quantiles(run, link).map(
      ([delay, share]) =>
        `<circle cx="${x(delay)}" cy="${y(share)}" r="4" fill="${paint}">` +
        `<title>${"AB"[side] ?? ""}: ${share * 100} % below ${shown(delay, "s")}</title></circle>`,
    );
    return [line, ...dots];
  });
  const words = `<text x="${LEFT}" y="${HEIGHT - 6}">Queue delay; dots at 50, 95 and 99 %, as printed</text>`;
  const box = document.createElement("div");
  box.innerHTML =
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-size="13" fill="var(--ink)" ` +
    'aria-label="Share of packets at or below a queue delay, of both sides">' +
    `${[...grid, ...shares, ...lines, words].join("")}</svg>`;
  return box.querySelector("svg");
}
