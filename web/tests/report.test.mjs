// A report of `sojourn compare` opened from disk: its plots, and a run that it plays.
// SOJOURN names the command, CHROMIUM the browser.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { FLAGS, root, violations } from "./support.mjs";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const command = process.env.SOJOURN ?? join(root, ".venv/bin/sojourn");
const missing = [executablePath, command].find((path) => !existsSync(path));
const skip = missing ? `there is no ${missing}` : false;

let folder;
let browser;
let page;
let problems;

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), "sojourn-web-"));
  const words = ["compare", "dumbbell-cubic", "--aqm", "taildrop,codel,pie", "--seeds", "2"];
  const more = ["--set", "duration=15s", "--out", folder];
  await promisify(execFile)(command, [...words, ...more]);
  browser = await chromium.launch({ executablePath, args: FLAGS });
});

after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true });
});

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
  page = await context.newPage();
  problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) problems.push(`request to ${request.url()}`);
  });
  await page.goto(pathToFileURL(join(folder, "report.html")).href);
}

test("a report plays a run and gives the digest that it has on record", { skip }, async () => {
  await open();
  await page.getByLabel("B", { exact: true }).selectOption("pie");
  await page.getByLabel("Seed").selectOption("2");
  const [live] = await Promise.all([
    page.context().waitForEvent("page"),
    page.getByRole("button", { name: "Play this run" }).click(),
  ]);
  live.on("pageerror", (error) => problems.push(error.message));
  await live.waitForSelector("#main:not([aria-busy])");
  await live.selectOption("#speed", "max");
  await live.click("#run");
  const digests = await live.textContent(".digests", { timeout: 60_000 });
  const { runs } = JSON.parse(await readFile(join(folder, "comparison.json"), "utf8"));
  const of = (aqm) => runs.find((run) => run.aqm === aqm && run.seed === 2).digest;
  assert.match(digests, new RegExp(`A ${of("taildrop")}, B ${of("pie")}`));
  assert.deepEqual(problems, []);
});

test("every figure with values can be explored and put back", { skip }, async () => {
  await open();
  const figure = page.locator("#figure-delay_cdf");
  await figure.getByRole("button", { name: "Explore" }).click();
  assert.equal(await figure.locator(":scope > svg").isVisible(), false);
  await figure.getByLabel("log x").check();
  await figure.locator(".u-over").hover();
  await page.waitForFunction(() =>
    /\d/.test(document.querySelector("#figure-delay_cdf .u-value").textContent),
  );
  await figure.locator(".u-legend th", { hasText: "codel" }).click();
  assert.equal(await figure.locator(".u-legend .u-off").count(), 1);
  await figure.getByRole("button", { name: "As printed" }).click();
  assert.equal(await figure.locator(":scope > svg").isVisible(), true);
  assert.deepEqual(problems, []);
});

test("without script the report has its figures and no dead button", { skip }, async () => {
  await open({ javaScriptEnabled: false });
  assert.equal(await page.locator("button").count(), 0);
  assert.ok(await page.locator("#figure-delay_cdf > svg").isVisible());
});

test("a report has no violation that axe-core finds, in both themes", { skip }, async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open({ colorScheme, bypassCSP: true, viewport: { width: 360, height: 900 } });
    const closed = page.getByRole("button", { name: "Explore" });
    while ((await closed.count()) > 0) await closed.first().click();
    assert.deepEqual(await violations(page), [], colorScheme);
  }
});
