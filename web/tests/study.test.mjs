// The page of a study, opened from disk. SOJOURN names the command, CHROMIUM the browser.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { FLAGS, root, violations } from "./support.mjs";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const command = process.env.SOJOURN ?? join(root, ".venv/bin/sojourn");
const python = process.env.PYTHON ?? join(root, ".venv/bin/python");
const missing = [executablePath, command, python].find((path) => !existsSync(path));
const skip = missing
  ? `${missing} is missing`
  : spawnSync(python, ["-c", "import altair, vl_convert"]).status !== 0 && "no sojourn[pages]";

const STUDY = `
name = "AQM and flows"
scenario = "dumbbell-reno"
metrics = ["queue/bottleneck/delay_p95", "queue/bottleneck/utilisation"]
seeds = 2
set = { duration = "1s", warmup = "0s" }
axes = [
  { name = "aqm", key = "links.bottleneck.queue", values = ["pie", "codel"] },
  { name = "flows", key = "flows.bulk.count", values = [1, 4] },
  { name = "rtt", key = "flows.bulk.rtt", values = ["60ms", "100ms"] },
]
`;

/** Draws everything under its own policy, and saves a figure in both forms. */
async function keepsToItsPolicyAndSaves(browser, address) {
  const page = await browser.newPage();
  const problems = [];
  page.on("console", (one) => one.type() === "error" && problems.push(one.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(address);
  await page.waitForFunction(() => document.body.dataset.drawn);
  for (const [kind, start] of [
    ["SVG", "<svg"],
    ["PNG", "\u0089PNG"],
  ]) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: `Save Trade-off as ${kind}` }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `trade-off.${kind.toLowerCase()}`);
    const content = await readFile(await download.path(), "latin1");
    assert.ok(content.startsWith(start), content.slice(0, 40));
  }
  assert.deepEqual(problems, []);
  await page.close();
}

test("a study's page has no violation that axe-core finds, nor an error", { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "sojourn-web-"));
  const run = (...words) => promisify(execFile)(command, ["study", ...words], { cwd: folder });
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    await writeFile(join(folder, "study.toml"), STUDY);
    await run("run", "study.toml", "--store", "store");
    await run("show", "store", "--out", "study.html");
    await keepsToItsPolicyAndSaves(browser, pathToFileURL(join(folder, "study.html")).href);
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [360, 1440]) {
        const viewport = { width, height: 900 };
        const page = await browser.newPage({ colorScheme, viewport, bypassCSP: true });
        const problems = [];
        page.on("console", (one) => one.type() === "error" && problems.push(one.text()));
        page.on("pageerror", (error) => problems.push(error.message));
        await page.goto(pathToFileURL(join(folder, "study.html")).href);
        await page.waitForFunction(() => document.body.dataset.drawn);
        // Two points in one breath: what is shown is of the second alone.
        await page.evaluate(() => {
          const choice = document.getElementById("choice");
          for (choice.value of ["5", "3"]) choice.dispatchEvent(new Event("change"));
        });
        await page.waitForFunction(() => document.body.dataset.shown === "3");
        assert.equal(await page.locator("#series svg").count(), 1);
        assert.equal(await page.locator("#point details").count(), 2);
        assert.deepEqual(await violations(page), [], `${colorScheme}, ${width} pixels`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} pixels at ${width}`);
        assert.deepEqual(problems, []);
        await page.close();
      }
    }
  } finally {
    await browser.close();
    await rm(folder, { recursive: true });
  }
});
