// Opens every link of the built site's atlas in Chromium: the live page shows that cell next to
// tail drop, refuses nothing and runs for a moment. Every AQM's first cell runs to
// its end. Ends with 1 on an error of a page, a cell without a number, or a request to elsewhere.
//
//     node web/tests/walk-atlas.mjs       (after `make atlas site`, or `make atlas-small site`)

import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { FLAGS, root, serveFolder } from "./support.mjs";
import { finish, opened, runFor } from "./walk/hands.mjs";

const SITE = join(root, "out/site/html");
if (!existsSync(join(SITE, "atlas/index.html")) || !existsSync(join(SITE, "live/sojourn.wasm"))) {
  console.error("node web/tests/walk-atlas.mjs, after `make web atlas site`");
  process.exit(2);
}
const problems = [];
let at = "the atlas";
const server = await serveFolder(SITE);
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: FLAGS });

async function watched() {
  const page = await opened(browser);
  const problem = (what) => problems.push(`${at}: ${what}`);
  page.on("console", (message) => message.type() === "error" && problem(message.text()));
  page.on("pageerror", (error) => problem(error.message));
  page.on("response", (response) => {
    if (response.status() >= 400) problem(`${response.status()} for ${response.url()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(server.address) && !/^(data|blob):/.test(url)) problem(`request to ${url}`);
  });
  return page;
}

/** What a link of the table opens. */
async function openCell(page, place) {
  const row = page.locator("#body tr").nth(place);
  const cells = await row.locator("td").allInnerTexts();
  at = cells.slice(0, 4).join(", ");
  // Of the numbers that every run has; a share of marks has none where nothing arrived as ECT.
  if (!cells.slice(4, 8).every((text) => /\d/.test(text))) problems.push(`${at}: ${cells}`);
  await Promise.all([page.waitForURL(/\/live\//), row.locator("a").click()]);
  await page.waitForSelector("#main:not([aria-busy])");
  const [a, b] = [await page.inputValue("#text-a"), await page.inputValue("#text-b")];
  if (a !== "taildrop" || b !== cells[3]) problems.push(`${at}: opens ${a} and ${b}`);
  const said = await page.textContent("#text-error");
  if (said) problems.push(`${at}: ${said}`);
  await runFor(page, 0.2);
  return cells[3];
}

const page = await watched();
await page.goto(`${server.address}atlas/`);
const table = await page.locator("a[href='atlas.parquet']").evaluate((link) => link.href);
if (!(await fetch(table)).ok) problems.push(`${table} is not there`);
const count = await page.locator("#body tr").count();
const finished = new Set();
for (let i = 0; i < count; i++) {
  const aqm = await openCell(page, i);
  if (!finished.has(aqm)) {
    finished.add(aqm);
    await finish(page).catch((error) => problems.push(`${at}: ${error.message}`));
  }
  await page.goBack();
  await page.waitForSelector("#body tr");
}
await browser.close();
server.close();
console.log(`${count} links opened, ${finished.size} AQMs run to the end`);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 || count === 0 ? 1 : 0);
