// Whether the page's memory stays flat while it runs again and again, and how many pictures a
// second it shows: MINUTES (10) of traffic-mix at five times real time.
//
//     MINUTES=10 node web/tests/memory.mjs

import { chromium } from "playwright-core";
import { FLAGS, serve } from "./support.mjs";

const minutes = Number(process.env.MINUTES ?? "10");
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
console.log("s,runs,heap_MB,pictures_per_s");
while (Date.now() < end) {
  await page.selectOption("#speed", "5");
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#run").textContent === "Pause");
  const [before, from] = [await page.evaluate("pictures"), performance.now()];
  await page.waitForSelector("#results .digests", { timeout: 120_000 });
  const pictures = (await page.evaluate("pictures")) - before;
  const rate = pictures / ((performance.now() - from) / 1000);
  runs += 1;
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const at = ((Date.now() - end) / 1000 + minutes * 60).toFixed(0);
  console.log([at, runs, (usedSize / 1e6).toFixed(1), rate.toFixed(1)].join(","));
}
await browser.close();
server.close();
