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
const skip = missing ? `${missing} is missing` : false;

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
  const drawing = figure.locator(".drawing.wide > svg");
  assert.equal(await drawing.isVisible(), true);
  await figure.getByRole("button", { name: "Explore" }).click();
  assert.equal(await drawing.isVisible(), false);
  // The axes are those of the drawing until somebody changes them.
  assert.equal(await figure.getByLabel("log x").isChecked(), true);
  assert.equal(await figure.getByLabel("log y").isChecked(), false);
  await figure.locator(".u-over").hover();
  await page.waitForFunction(() =>
    /\d/.test(document.querySelector("#figure-delay_cdf .u-value").textContent),
  );
  await figure.locator(".u-legend th", { hasText: "codel" }).click();
  assert.equal(await figure.locator(".u-legend .u-off").count(), 1);
  await figure.getByRole("button", { name: "As printed" }).click();
  assert.equal(await drawing.isVisible(), true);
  assert.deepEqual(problems, []);
});

test("without script the report has its figures and no dead button", { skip }, async () => {
  await open({ javaScriptEnabled: false });
  assert.equal(await page.locator("button").count(), 0);
  assert.ok(await page.locator("#figure-delay_cdf .drawing.wide > svg").isVisible());
});

test("plots over one quantity share a cursor, and a point opens its run", { skip }, async () => {
  await open();
  const [pareto, cdf, time] = ["pareto", "delay_cdf", "delay_time"].map((name) =>
    page.locator(`#figure-${name}`),
  );
  for (const figure of [pareto, cdf, time])
    await figure.getByRole("button", { name: "Explore" }).click();
  await pareto.scrollIntoViewIfNeeded();
  const over = pareto.locator(".u-over");
  await over.hover({ position: { x: 200, y: 100 } });
  const value = (figure) => figure.locator(".u-legend .u-value").first().textContent();
  await page.waitForFunction(() =>
    /\d/.test(document.querySelector("#figure-delay_cdf .u-value").textContent),
  );
  assert.doesNotMatch(await value(time), /\d/);
  const { height, width } = await over.boundingBox();
  const runs = pareto.locator("select option");
  assert.equal(await runs.count(), 1 + 3 * 2);
  await pareto.getByLabel("Time series of a run").selectOption({ index: 1 });
  assert.equal(await pareto.locator(".uplot").count(), 2);
  await pareto.getByRole("button", { name: "Close" }).click();
  assert.equal(await pareto.locator(".uplot").count(), 1);
  // Clicks all over the plot meet a point somewhere.
  for (let i = 0; i < 600 && (await pareto.locator(".uplot").count()) < 2; i++) {
    const position = { x: ((i % 30) / 30) * width, y: (Math.floor(i / 30) / 20) * height };
    await over.click({ position, delay: 0, force: true });
  }
  assert.equal(await pareto.locator(".uplot").count(), 2);
  assert.match(await pareto.locator(".u-legend").last().textContent(), /, seed [12]/);
  assert.deepEqual(problems, []);
});

test("at 400 pixels figures fit, and what is wider scrolls within its box", { skip }, async () => {
  await open({ viewport: { width: 400, height: 900 } });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 400, `${wide} pixels`);
  for (const figure of await page.locator("figure").all()) {
    assert.equal(await figure.locator(".drawing.wide").isVisible(), false);
    const { width } = await figure.locator(".drawing.narrow > svg").boundingBox();
    assert.ok(width > 300 && width <= 400, `${width} pixels`);
  }
  assert.ok(await page.getByText("Scroll the table sideways").first().isVisible());
});

test("a report has no violation that axe-core finds, in both themes", { skip }, async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open({ colorScheme, bypassCSP: true, viewport: { width: 360, height: 900 } });
    const closed = page.getByRole("button", { name: "Explore" });
    while ((await closed.count()) > 0) await closed.first().click();
    assert.deepEqual(await violations(page), [], colorScheme);
  }
});
