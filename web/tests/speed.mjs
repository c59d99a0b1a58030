// How large and how fast the page is, into docs/how-to/browser.md: medians of REPEATS (10). On an
// idle machine, after `make web`.
//
//     node web/tests/speed.mjs

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { sizes } from "./sizes.mjs";
import { FLAGS, fingerprints, root, serve, simulator } from "./support.mjs";

const repeats = Number(process.env.REPEATS ?? "10");
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const server = await serve();
const browser = await chromium.launch({ executablePath, args: FLAGS });

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const range = (values) => [Math.min(...values), Math.max(...values)];

async function repeated(measure) {
  const values = [];
  for (let i = 0; i < repeats; i++) values.push(await measure());
  return values;
}

/** Seconds from opening the page to its first plots, in a browser context without a cache. */
async function firstPlots() {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } });
  const page = await context.newPage();
  await page.goto(server.address);
  const drawn = () => performance.getEntriesByName("first-plots")[0]?.startTime;
  const ms = await (await page.waitForFunction(drawn)).jsonValue();
  await context.close();
  return ms / 1000;
}

/** Seconds of a run of traffic-mix with both AQMs, and pictures per second meanwhile. */
async function run(page, speed) {
  await page.selectOption("#speed", speed);
  return page.evaluate(async () => {
    const began = performance.now();
    let pictures = 0;
    document.querySelector("#run").click();
    do {
      await new Promise(requestAnimationFrame);
      pictures += 1;
    } while (!document.querySelector("#results .digests") || pictures < 5);
    const seconds = (performance.now() - began) / 1000;
    return { seconds, rate: pictures / seconds };
  });
}

async function fromNode() {
  const call = await simulator();
  const mix = (await fingerprints()).find((one) => one.scenario === "traffic-mix");
  return repeated(async () => {
    const began = performance.now();
    call({ call: "run", ...mix.setting });
    return performance.now() - began;
  });
}

const opened = await repeated(firstPlots);
const page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
await page.goto(server.address);
await page.waitForSelector("#main:not([aria-busy])");
await page.selectOption("#preset", "traffic-mix");
const isThere = () => document.querySelector("#scenario-name").textContent === "traffic-mix";
await page.waitForFunction(isThere);
const fast = (await repeated(() => run(page, "max"))).map(({ seconds }) => seconds);
const { rate } = await run(page, "5");
const node = await fromNode();
await browser.close();
server.close();

const [s, ms] = [(v) => `${v.toFixed(2)} s`, (v) => `${v.toFixed(0)} ms`];
const spread = (values, of) => `${of(median(values))} (${range(values).map(of).join(" to ")})`;
const kB = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
const rows = [
  ...(await sizes()).map(([what, bytes]) => [what, kB(bytes)]),
  ["from opening to the first plots", spread(opened, s)],
  [`traffic-mix, 60 s simulated, one AQM, in node ${process.versions.node}`, spread(node, ms)],
  ["traffic-mix, two AQMs, observed and drawn, as fast as it goes", spread(fast, s)],
  ["pictures per second while traffic-mix runs at five times real time", rate.toFixed(0)],
];
const table = ["| what | measured |", "|---|--:|", ...rows.map((row) => `| ${row.join(" | ")} |`)];
// As all scripts here write a part of a page.
const write =
  "import sys; from pathlib import Path; from sojourn import files;" +
  "files.replace_between(Path(sys.argv[1]), *sys.argv[2:], sys.stdin.read())";
execFileSync(
  process.env.PYTHON ?? join(root, ".venv/bin/python"),
  ["-c", write, "docs/how-to/browser.md", "<!-- speed: begin -->\n", "<!-- speed: end -->\n"],
  { cwd: root, input: `${table.join("\n")}\n`, stdio: ["pipe", "inherit", "inherit"] },
);
console.log(table.join("\n"));
