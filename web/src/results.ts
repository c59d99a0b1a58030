// The numbers of a finished run, side by side, and the distribution of its delays.

import { delayCdf } from "./delay-cdf";
import type { Lab } from "./lab";
import { METRICS } from "./metric-table";
import { shown } from "./plots";
import type { Finished, SummaryRow } from "./protocol";

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/** A number of a run as the command prints it: shares in percent. */
function number(metric: string, value: number | null | undefined, unit: string): string {
  if (METRICS[metric]?.kind !== "share" || value === null || value === undefined)
    return shown(value, unit);
  return `${shown(100 * value, "1")} %`;
}

function table(caption: string, head: string[], rows: string[][]): HTMLTableElement {
  const made = document.createElement("table");
  made.createCaption().textContent = caption;
  const top = made.createTHead().insertRow();
  for (const text of head) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = text;
    top.append(cell);
  }
  const body = made.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const text of row) {
      const cell = line.insertCell();
      cell.textContent = text;
      cell.title = METRICS[text]?.label ?? "";
    }
  }
  return made;
}

export class Results {
  /** The last AQM of side A, as shown. */
  private showing: Finished | undefined;

  constructor(private readonly parent: HTMLElement) {
    this.clear();
  }

  clear(): void {
    this.showing = undefined;
    const text = document.createElement("p");
    text.textContent = "The numbers appear when the run is over.";
    this.parent.replaceChildren(text);
  }

  show(lab: Lab): void {
    const [a, b] = lab.sides.map((side) => side.finished);
    if (!a || !b || this.showing === a) return;
    this.showing = a;
    const key = (row: SummaryRow): string => row.slice(0, 3).join("/");
    const other = new Map(b.summary.map((row) => [key(row), row]));
    const rows = a.summary.map((row) => {
      const [scope, name, metric, value, unit] = row;
      return {
        metric,
        cells: [
          `${scope} ${name}`.trim(),
          metric,
          number(metric, value, unit),
          number(metric, other.get(key(row))?.[3], unit),
        ],
      };
    });
    const head = ["Of", "Metric", "A", "B"];
    const first = table(
      "Headline numbers after the warm-up",
      head,
      rows.filter((row) => METRICS[row.metric]?.live).map((row) => row.cells),
    );
    const all = document.createElement("details");
    all.innerHTML = "<summary>Every number</summary>";
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Every number");
    scroll.append(
      table(
        "Every number",
        head,
        rows.map((row) => row.cells),
      ),
    );
    const at = (cdf: [number, number][], share: number): string =>
      shown(cdf.find(([, below]) => below >= share)?.[0], "s");
    const shares = SHARES.map((share) => [
      `${share * 100} %`,
      at(a.delay_cdf, share),
      at(b.delay_cdf, share),
    ]);
    const cdf = table(
      "Queue delay that a share of packets stays below",
      ["Share", "A", "B"],
      shares,
    );
    all.append(cdf, scroll);
    const digests = document.createElement("p");
    digests.className = "digests";
    const native = lab.state.changes.length > 0 ? "" : "; the native command gives the same";
    digests.textContent = `Digests: A ${a.digest}, B ${b.digest}${native}.`;
    const picture = document.createElement("div");
    picture.className = "plane distribution";
    picture.append(delayCdf(lab, [a, b]) ?? "No packet left the queue.");
    this.parent.replaceChildren(first, picture, all, digests);
  }
}
