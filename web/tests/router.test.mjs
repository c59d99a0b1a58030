// The page of `sojourn router --live` with reports as the router makes them.
// PYTHON names an interpreter with sojourn[live], CHROMIUM the browser.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { chromium } from "playwright-core";
import { FLAGS, root, violations } from "./support.mjs";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const python = process.env.PYTHON ?? join(root, ".venv/bin/python");
const imports = "import starlette, uvicorn, websockets, sojourn";
const skip = !existsSync(executablePath)
  ? "no Chromium; install the package chromium"
  : spawnSync(python, ["-c", imports]).status !== 0 && "no sojourn[live]";

const SERVER = `
import sys
from sojourn.live import page
from sojourn.live.reports import ReportServer
with ReportServer(page.folder()) as serving:
    for i in range(20):
        queue = {"delay_mean_s": 0.001 * i, "delay_max_s": 0.002 * i, "backlog_packets": i,
                 "dropped": i, "marked": 0}
        paths = [{"name": "forward", "throughput_bps": 1e6 * i, "queue": queue},
                 {"name": "reverse", "throughput_bps": 1e4, "queue": None}]
        serving.publish({"t_s": 0.5 * i, "late_max_s": None, "paths": paths})
    print(serving.address, flush=True)
    sys.stdin.read()
`;

test("the page shows the reports, refuses a wrong token and says the end", { skip }, async () => {
  const server = spawn(python, ["-c", SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    const [printed] = await new Promise((resolve) =>
      server.stdout.once("data", (d) => resolve([d])),
    );
    const address = String(printed).trim();
    const page = await browser.newPage({ bypassCSP: true });
    const problems = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(address);
    await page.waitForFunction(() => document.querySelector("#message").textContent === "9.5 s");
    assert.match(await page.textContent("#numbers tr"), /forward19 Mbit\/s19 ms38 ms19190/);
    assert.equal(await page.locator(".uplot").count(), 3);
    const marks = await page
      .locator("#lost .u-series + .u-series .u-marker")
      .evaluateAll((all) => all.map((mark) => mark.style.borderStyle));
    assert.deepEqual(marks, ["solid", "dashed", "solid", "dashed"]);
    if (process.env.PICTURES)
      await page.screenshot({ path: join(process.env.PICTURES, "router.png"), fullPage: true });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), [], colorScheme);
    }
    const other = await browser.newPage();
    await other.goto(address.replace(/#.*/, "#guessed"));
    await other.waitForFunction(() =>
      /refused/.test(document.querySelector("#message").textContent),
    );
    server.stdin.end();
    await page.waitForFunction(() =>
      /has ended/.test(document.querySelector("#message").textContent),
    );
    assert.deepEqual(problems, []);
  } finally {
    server.stdin.end();
    await browser.close();
  }
});
