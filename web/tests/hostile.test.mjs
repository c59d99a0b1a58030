// A saved live page of a scenario whose name is markup, opened from disk.
// SOJOURN names the command, CHROMIUM the browser.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { FLAGS, root } from "./support.mjs";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const command = process.env.SOJOURN ?? join(root, ".venv/bin/sojourn");
const missing = [executablePath, command].find((path) => !existsSync(path));
const skip = missing ? `${missing} is missing` : false;

const RAN = "document.documentElement.dataset.ran = 1";
const HOSTILE = `</SCRIPT><script>${RAN}</script>"'><img src=x onerror="${RAN}"><!--<script>`;

/** A script, a handler and a request, as somebody who got markup into the page would have them. */
function inject([body, elsewhere]) {
  const script = document.createElement("script");
  script.textContent = body;
  const image = document.createElement("img");
  image.src = elsewhere;
  document.body.append(script, image);
}

const ran = (page) => page.evaluate(() => document.documentElement.dataset.ran);

async function savedPage(folder) {
  const shipped = join(root, "python/sojourn/scenarios/dumbbell-reno.toml");
  const text = await readFile(shipped, "utf8");
  const file = join(folder, "hostile.toml");
  await writeFile(file, text.replace(/^name = .*$/m, `name = ${JSON.stringify(HOSTILE)}`));
  const saved = join(folder, "live.html");
  await promisify(execFile)(command, ["live", file, "--aqm", "pie,codel", "--save", saved]);
  return pathToFileURL(saved).href;
}

test("a name that is markup is text, and no script but the page's own runs", { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "sojourn-web-"));
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const elsewhere = `http://127.0.0.1:${server.address().port}/`;
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    const address = await savedPage(folder);
    const page = await browser.newPage();
    await page.goto(address);
    await page.waitForFunction(
      (name) => document.querySelector("#scenario-name").textContent === name,
      HOSTILE,
    );
    await page.selectOption("#speed", "max");
    await page.click("#run");
    await page.waitForSelector("#results .digests", { timeout: 60_000 });
    assert.equal(await page.locator("img").count(), 0);
    await page.evaluate(inject, [RAN, elsewhere]);
    await page.waitForTimeout(300);
    assert.equal(await ran(page), undefined);
    assert.deepEqual(asked, []);
    // Without its policy the same runs and reaches the server.
    const bare = await (await browser.newContext({ bypassCSP: true })).newPage();
    await bare.goto(address);
    await bare.evaluate(inject, [RAN, elsewhere]);
    await bare.waitForFunction(() => document.documentElement.dataset.ran === "1");
    while (asked.length === 0) await bare.waitForTimeout(50);
  } finally {
    await browser.close();
    server.close();
    await rm(folder, { recursive: true });
  }
});
