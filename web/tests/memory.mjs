// Whether the page's memory stays flat while it runs again and again, and how many pictures a
// second it shows: MINUTES (10) of traffic-mix at SPEED (5) times real time. The heap and the nodes
// are the page's, process_MB is what all of it holds: worker and WebAssembly too.
//
//     MINUTES=10 node web/tests/memory.mjs

import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";
import { FLAGS, serve } from "./support.mjs";

const minutes = Number(process.env.MINUTES ?? "10");
const speed = process.env.SPEED ?? "5";
const server = await serve();
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: FLAGS });
const page = await browser.newPage();
await page.goto(server.address);
await page.waitForSelector("#main:not([aria-busy])");
await page.selectOption("#preset", "traffic-mix");
await page.waitForFunction(
  () => document.querySelector("#scenario-name").textContent === "traffic-mix",
);
const session = await page.context().newCDPSession(page);
const ofBrowser = await browser.newBrowserCDPSession();
const { processInfo } = await ofBrowser.send("SystemInfo.getProcessInfo");
const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);

/** Resident megabytes of the largest of the processes that show pages. */
async function residentMB() {
  const statuses = renderers.map((id) => readFile(`/proc/${id}/status`, "utf8").catch(() => ""));
  const kB = (await Promise.all(statuses)).map((s) => Number(/VmRSS:\s+(\d+)/.exec(s)?.[1] ?? 0));
  return Math.max(...kB) / 1000;
}

await page.evaluate(() => {
  window.pictures = 0;
  const count = () => {
    window.pictures += 1;
    requestAnimationFrame(count);
  };
  count();
});
const end = Date.now() + minutes * 60_000;
let runs = 0;
console.log("s,runs,heap_MB,nodes,process_MB,pictures_per_s");
while (Date.now() < end) {
  await page.selectOption("#speed", speed);
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#run").textContent === "Pause");
  const [before, from] = [await page.evaluate("pictures"), performance.now()];
  // `waitForSelector` would keep what it found in memory.
  const isOver = () => document.querySelector("#results .digests") !== null;
  await page.waitForFunction(isOver, null, { timeout: 120_000 });
  const pictures = (await page.evaluate("pictures")) - before;
  const rate = pictures / ((performance.now() - from) / 1000);
  runs += 1;
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes } = await session.send("Memory.getDOMCounters");
  const at = ((Date.now() - end) / 1000 + minutes * 60).toFixed(0);
  const megabytes = [usedSize / 1e6, await residentMB()].map((value) => value.toFixed(2));
  console.log([at, runs, megabytes[0], nodes, megabytes[1], rate.toFixed(1)].join(","));
}
await browser.close();
server.close();
