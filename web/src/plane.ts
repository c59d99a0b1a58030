// The plane of delay against goodput: one point for each seed and side, filled seed by seed, with
// the ellipse of one standard deviation around each mean.

import { Client } from "./client";
import { counted } from "./dom";
import type { Lab } from "./lab";
import { shown } from "./plots";
import type { Finished, Opened, Taken } from "./protocol";
import { colour, sideColour } from "./theme";

const SEEDS = 10;
const EVENTS_PER_SLICE = 200_000;
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [560, 320, 112, 50, 14];

interface Point {
  side: number;
  seed: bigint;
  delay_s: number;
  goodput_bps: number;
}

/** Half axes and angle in radians of one standard deviation. */
export function ellipse(points: [number, number][]): [number, number, number] {
  const mean = (i: 0 | 1): number => points.reduce((sum, p) => sum + p[i], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const moment = (i: 0 | 1, j: 0 | 1): number => {
    const of = (p: [number, number], axis: 0 | 1): number => p[axis] - (axis === 0 ? mx : my);
    return points.reduce((sum, p) => sum + of(p, i) * of(p, j), 0) / (points.length - 1);
  };
  const [xx, xy, yy] = [moment(0, 0), moment(0, 1), moment(1, 1)];
  const root = Math.hypot((xx - yy) / 2, xy);
  const middle = (xx + yy) / 2;
  const axes = [middle + root, middle - root].map((value) => Math.sqrt(Math.max(0, value)));
  return [axes[0] ?? 0, axes[1] ?? 0, Math.atan2(2 * xy, xx - yy) / 2];
}

export class Plane {
  private points: Point[] = [];
  /** The running seeds, or none; runs of an earlier scenario notice that others have started. */
  private series: object | null = null;
  private client: Client | null = null;
  private readonly button: HTMLButtonElement;
  private readonly picture: HTMLElement;
  private readonly text: HTMLElement;

  constructor(
    private readonly lab: Lab,
    parent: HTMLElement,
  ) {
    parent.innerHTML =
      '<button type="button" id="seeds"></button><p role="status"></p><div class="plane"></div>';
    this.button = parent.querySelector("button") as HTMLButtonElement;
    this.text = parent.querySelector("p") as HTMLElement;
    this.picture = parent.querySelector("div") as HTMLElement;
    this.button.onclick = () => {
      if (this.series) this.stop();
      else void this.run();
    };
    this.label();
  }

  /** Marks the content as outdated, because the scenario or an AQM has changed. */
  clear(): void {
    this.stop();
    this.points = [];
    this.text.textContent = "";
    this.picture.replaceChildren();
  }

  restyle(): void {
    if (this.points.length > 0) this.draw();
  }

  private label(): void {
    this.button.textContent = this.series ? "Stop" : `Run ${SEEDS} seeds`;
  }

  private stop(): void {
    this.series = null;
    this.label();
  }

  private async run(): Promise<void> {
    this.clear();
    const series = {};
    this.series = series;
    this.label();
    const client = (this.client ??= new Client());
    const settings = [0, 1].map((side) => this.lab.setting(side));
    const goesOn = (): boolean => this.series === series;
    try {
      const first = BigInt(this.lab.state.seed);
      for (let i = 0; i < SEEDS && goesOn(); i++) {
        const seed = BigInt.asUintN(64, first + BigInt(i));
        for (const side of [0, 1]) {
          const setting = { ...settings[side], text: settings[side]?.text ?? "" };
          const point = await this.one(client, side, seed, setting, goesOn);
          if (point && goesOn()) this.points.push(point);
        }
        if (goesOn()) this.draw();
      }
    } catch (failure) {
      if (goesOn()) this.text.textContent = (failure as Error).message;
    }
    if (goesOn()) this.stop();
  }

  private async one(
    client: Client,
    side: number,
    seed: bigint,
    setting: ReturnType<Lab["setting"]>,
    goesOn: () => boolean,
  ): Promise<Point | null> {
    const sample_s = this.lab.duration; // it is not drawn
    const call = { ...setting, seed: seed.toString(), sample_s };
    const { session, link } = await client.ask<Opened>({ call: "open", ...call });
    const advance = { session, until_s: 1e9, events: EVENTS_PER_SLICE };
    let isOver = false;
    while (!isOver && goesOn()) {
      isOver = (await client.ask<Taken>({ call: "advance", ...advance })).is_over;
    }
    if (!isOver) {
      await client.ask({ call: "close", session });
      return null;
    }
    const { summary } = await client.ask<Finished>({ call: "finish", session });
    const of = (scope: string, metric: string): number[] =>
      summary
        .filter((row) => row[0] === scope && row[2] === metric)
        .filter((row) => scope !== "queue" || row[1] === link)
        .map((row) => row[3] ?? 0);
    const goodput_bps = of("class", "goodput").reduce((sum, value) => sum + value, 0);
    return { side, seed, delay_s: of("queue", "delay_mean")[0] ?? 0, goodput_bps };
  }

  private draw(): void {
    const most = (of: (p: Point) => number): number =>
      Math.max(1e-9, ...this.points.map(of)) * 1.08;
    const [delay, goodput] = [most((p) => p.delay_s), most((p) => p.goodput_bps)];
    const x = (value: number): number => LEFT + (value / delay) * (WIDTH - LEFT - 14);
    // Goodputs are similar, so their axis begins below the minimum, by a tenth of the maximum.
    const rates = this.points.map((p) => p.goodput_bps);
    const least = Math.max(0, Math.min(...rates) - 0.1 * Math.max(...rates));
    const y = (value: number): number =>
      HEIGHT - BOTTOM - ((value - least) / (goodput - least)) * (HEIGHT - BOTTOM - TOP);
    const ink = colour("ink");
    const parts = [
      `<path d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - 14}" fill="none" stroke="${ink}"/>`,
      `<text x="${WIDTH - 14}" y="${HEIGHT - 30}" text-anchor="end">${shown(delay, "s")}</text>`,
      `<text x="${LEFT}" y="${HEIGHT - 6}">Mean queue delay, from 0</text>`,
      `<text x="${LEFT - 6}" y="${TOP + 10}" text-anchor="end">${shown(goodput, "bit/s")}</text>`,
      `<text x="${LEFT - 6}" y="${HEIGHT - BOTTOM}" text-anchor="end">` +
        `${shown(least, "bit/s")}</text>`,
    ];
    const words: string[] = [];
    for (const side of [0, 1]) {
      const points = this.points.filter((p) => p.side === side);
      const places = points.map((p): [number, number] => [x(p.delay_s), y(p.goodput_bps)]);
      const paint = sideColour(side);
      parts.push(
        ...places.map(([px, py]) => `<circle cx="${px}" cy="${py}" r="3" fill="${paint}"/>`),
      );
      const mean = (of: (p: Point) => number): number =>
        points.reduce((sum, p) => sum + of(p), 0) / points.length;
      if (points.length > 2) {
        const [long, short, angle] = ellipse(places);
        const middle = [x(mean((p) => p.delay_s)), y(mean((p) => p.goodput_bps))];
        const turn = `rotate(${(angle * 180) / Math.PI} ${middle.join(" ")})`;
        const at = `cx="${middle[0]}" cy="${middle[1]}" rx="${long}" ry="${short}"`;
        parts.push(`<ellipse ${at} transform="${turn}" fill="none" stroke="${paint}"/>`);
      }
      const means = [
        shown(
          mean((p) => p.delay_s),
          "s",
        ),
        shown(
          mean((p) => p.goodput_bps),
          "bit/s",
        ),
      ];
      words.push(`${"AB"[side] ?? ""}: ${means.join(", ")}`);
    }
    const count = this.points.length / 2;
    this.text.textContent = `Means over ${counted(count, "seed")}, delay and goodput: ${words.join("; ")}.`;
    const label = "Goodput against mean queue delay, a point for each seed";
    this.picture.innerHTML =
      `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}" ` +
      `font-size="13" fill="${ink}">${parts.join("")}</svg>`;
    this.picture.append(this.table());
  }

  private table(): HTMLElement {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "Table";
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const text of ["Seed", "Side", "Mean queue delay", "Goodput"]) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = text;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const { seed, side, delay_s, goodput_bps } of this.points) {
      const cells = [seed.toString(), "AB"[side] ?? "", shown(delay_s, "s")];
      const row = body.insertRow();
      for (const text of [...cells, shown(goodput_bps, "bit/s")])
        row.insertCell().textContent = text;
    }
    details.append(summary, table);
    return details;
  }
}
