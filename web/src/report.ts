// The interactive parts of a report of `sojourn compare`: its figures can be explored, and its runs
// played on the embedded live page.

import "uplot/dist/uPlot.min.css";
import "./report.css";
import { element } from "./dom";
import { Explorer, type Figure, type Key, type Run } from "./explorer";
import { unpacked } from "./packed";
import { encode } from "./url-state";

interface Play {
  text: string;
  link: string;
  aqms: string[];
  seeds: string[];
}

interface Report {
  figures: Figure[];
  keys: Record<string, Key>;
  runs: Run[];
  play: Play | null;
}

async function livePage(): Promise<string> {
  const packed = document.getElementById("live-page")?.textContent ?? "";
  const text = await unpacked(packed).text();
  return URL.createObjectURL(new Blob([text], { type: "text/html" }));
}

function choice(label: string, values: string[], chosen: string): [HTMLElement, () => string] {
  const select = element("select", {}, ...values.map((value) => new Option(value, value)));
  select.value = chosen;
  select.ariaLabel = label; // a label's text would include all its options
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
const { figures, keys, runs, play } = JSON.parse(text) as Report;
for (const figure of figures) {
  const place = document.getElementById(`figure-${figure.name}`);
  if (place) new Explorer(figure, keys, runs, place);
}
if (play) document.querySelector(".figures")?.before(player(play));
