// The page in Chromium: each control does what it says, errors at their lines, nothing leaves it.
// CHROMIUM names the browser; PICTURES a folder for screenshots.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before, beforeEach } from "node:test";
import { parquetReadObjects } from "hyparquet";
import { chromium } from "playwright-core";
import { FLAGS, fingerprints, serve, violations } from "./support.mjs";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const skip = existsSync(executablePath) ? false : "no Chromium; install the package chromium";

let server;
let browser;
let page;
let problems;

async function open(hash = "", options = {}) {
  await page?.context().close();
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
  page = await context.newPage();
  problems = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(server.address) && !/^(data|blob):/.test(url))
      problems.push(`request to ${url}`);
  });
  await page.goto(server.address + hash);
  await page.waitForSelector("#main:not([aria-busy])");
}

const text = (id) => page.textContent(`#${id}`);
/** Waits until an element has a text, as the page draws in its own time; fails where it never has. */
const shows = (id, expected) =>
  page.waitForFunction(
    ([id, expected]) => document.getElementById(id).textContent === expected,
    [id, expected],
  );
const clock = async () => Number((await text("clock")).split(" ")[0]);

/** The clock when it has stood still for a second: a pause lets the slice that runs end. */
async function still() {
  await page.waitForFunction(() => {
    const now = document.getElementById("clock").textContent;
    if (window.stood?.at !== now) window.stood = { at: now, since: performance.now() };
    return performance.now() - window.stood.since > 1000;
  });
  return clock();
}

/** Does what makes new numbers, and waits for them; those that stand there do not count. */
async function renewed(act) {
  await page.evaluate(() => document.querySelector(".digests")?.setAttribute("data-old", ""));
  await act();
  await page.waitForSelector("#results .digests:not([data-old])", { timeout: 60_000 });
}

/** Runs what stands still to the end, as fast as it goes. */
async function finish() {
  await page.selectOption("#speed", "max");
  await renewed(() => page.click("#run"));
}

before(async () => {
  if (skip) return;
  server = await serve();
  browser = await chromium.launch({ executablePath, args: FLAGS });
});

after(async () => {
  await browser?.close();
  server?.close();
});

beforeEach(() => (problems = []));

test("every shipped scenario has the native digest in Chromium", { skip }, async () => {
  await open();
  const records = (await fingerprints()).filter((one) => one.aqm === "as-shipped");
  for (const { scenario, digest, setting } of records) {
    const answer = await page.evaluate(
      (request) =>
        new Promise((resolve) => {
          const worker = new Worker("worker.js", { type: "module" });
          worker.onmessage = (event) => {
            worker.terminate();
            resolve(event.data.answer);
          };
          worker.postMessage({ id: 1, request });
        }),
      { call: "run", ...setting },
    );
    assert.equal(answer.ok?.digest, digest, scenario);
  }
  assert.deepEqual(problems, []);
});

test("run, pause, step and rewind do what they say", { skip }, async () => {
  await open();
  await page.selectOption("#speed", "5");
  await page.click("#run");
  await page.waitForFunction(() => parseFloat(document.querySelector("#clock").textContent) > 1);
  await shows("run", "Pause");
  await page.click("#run");
  const paused = await still();
  await shows("run", "Run");
  for (let i = 0; i < 20; i++) await page.click("#step");
  await page.waitForFunction(
    (before) => parseFloat(document.querySelector("#clock").textContent) > before,
    paused,
  );
  assert.ok((await clock()) < paused + 0.2, "twenty packets are a short time");
  await page.click("#rewind");
  await page.waitForFunction(() =>
    document.querySelector("#clock").textContent.startsWith("0.000"),
  );
  assert.deepEqual(problems, []);
});

test("a run that is repeated has the same digests, another seed has others", { skip }, async () => {
  await open();
  await finish();
  const first = await page.textContent(".digests");
  await renewed(() => page.click("#run"));
  assert.equal(await page.textContent(".digests"), first);
  await page.fill("#seed", "2");
  await page.press("#seed", "Tab");
  await finish();
  assert.notEqual(await page.textContent(".digests"), first);
  assert.deepEqual(problems, []);
});

test("a new seed and Run in one breath give the numbers of the new seed", { skip }, async () => {
  await open();
  await finish();
  const first = await page.textContent(".digests");
  await page.evaluate(() => {
    document.getElementById("step").disabled = false;
    document.getElementById("step").click();
    const seed = document.getElementById("seed");
    seed.value = "2";
    seed.dispatchEvent(new Event("change"));
    document.getElementById("run").click();
  });
  await page.waitForFunction(
    (first) => (document.querySelector(".digests")?.textContent ?? first) !== first,
    first,
  );
  assert.deepEqual(problems, []);
});

test("a change in mid-run is in the address, and the address repeats it", { skip }, async () => {
  await open();
  await page.selectOption("#speed", "20");
  await page.click("#run");
  await page.waitForFunction(() => parseFloat(document.querySelector("#clock").textContent) > 3);
  await page.click("#run");
  await page.fill("#text-b", "codel:target=20ms");
  await page.press("#text-b", "Tab");
  await page.waitForFunction(() =>
    /runs codel:target=20ms/.test(document.querySelector("#message").textContent),
  );
  await finish();
  const [digests, hash] = [await page.textContent(".digests"), new URL(page.url()).hash];
  await open(hash);
  await finish();
  assert.equal(await page.textContent(".digests"), digests);
  assert.deepEqual(problems, []);
});

test("a page that was saved with a state opens with it", { skip }, async () => {
  await open();
  const before = new URL(page.url()).hash;
  await page.fill("#text-b", "pie:target=7ms");
  await page.press("#text-b", "Tab");
  await page.waitForFunction((before) => location.hash !== before, before);
  const state = new URL(page.url()).hash.slice(1);
  await page.route(server.address, async (route) => {
    const response = await route.fetch();
    const meta = `<head><meta name="sojourn-state" content="${state}" />`;
    await route.fulfill({ response, body: (await response.text()).replace("<head>", meta) });
  });
  await page.goto("about:blank");
  await page.goto(server.address);
  await page.waitForSelector("#main:not([aria-busy])");
  assert.equal(await page.inputValue("#text-b"), "pie:target=7ms");
  assert.deepEqual(problems, []);
});

test("a parameter out of range is refused next to its form", { skip }, async () => {
  await open();
  await page.fill("#text-b", "codel:target=fast");
  await page.press("#text-b", "Tab");
  await page.waitForFunction(() => document.querySelector("#error-b").textContent !== "");
  assert.match(await text("error-b"), /target/);
  assert.equal(await page.textContent("#error-a"), "");
});

test("a mistake in the text is shown at its line", { skip }, async () => {
  await open();
  const rate = page.getByLabel("Rate", { exact: true }).first();
  await rate.fill("fast");
  await rate.press("Tab");
  await page.waitForSelector(".cm-lint-marker-error");
  const message = await text("text-error");
  const line = Number(/line (\d+)/.exec(message)[1]);
  const lines = await page.locator(".cm-line").allTextContents();
  assert.match(lines[line - 1], /rate = "fast"/);
});

test("a click on a drop says why, and so does the list", { skip }, async () => {
  await open();
  await finish();
  await page.click("#why-section summary");
  await page.locator("#signals button").first().click();
  assert.match(await text("why"), /was (dropped|marked)/);
  assert.match(await text("why"), /because|:/);
});

test("exports are what the page shows", { skip }, async () => {
  await open();
  await finish();
  const saved = async (id) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#${id}`)]);
    return readFile(await download.path());
  };
  const scenario = (await saved("export-scenario")).toString();
  assert.match(scenario, /^\[links\.bottleneck\]$/m);
  const [head, ...rows] = (await saved("export-csv")).toString().trim().split("\n");
  assert.match(head, /^t_s,side,aqm,.*delay_mean/);
  assert.ok(rows.length > 1000);
  assert.ok(rows.every((row) => row.split(",").length === head.split(",").length));
  const columns = await parquetReadObjects({ file: (await saved("export-parquet")).buffer });
  assert.deepEqual(Object.keys(columns[0]), head.split(","));
  assert.equal(columns.length, rows.length);
  assert.equal((await saved("export-png")).subarray(1, 4).toString(), "PNG");
  assert.match(
    (await saved("export-svg")).toString(),
    /^<svg .*<polyline .*<polyline .*<\/svg>\s*$/s,
  );
  assert.match(
    await text("command"),
    /sojourn run dsl\.toml --set 'links\.bottleneck\.queue="codel"' --set seed=1/,
  );
  assert.deepEqual(problems, []);
});

test("the keyboard runs, steps and rewinds", { skip }, async () => {
  await open();
  await page.keyboard.press(".");
  await page.waitForFunction(() => parseFloat(document.querySelector("#clock").textContent) > 0);
  await page.keyboard.press("0");
  await page.waitForFunction(() =>
    document.querySelector("#clock").textContent.startsWith("0.000"),
  );
  await page.keyboard.press(" ");
  await page.waitForFunction(() => parseFloat(document.querySelector("#clock").textContent) > 0.5);
  await page.keyboard.press(" ");
  await shows("run", "Run");
});

test("the form and the text are one: an edit of either is in both", { skip }, async () => {
  await open();
  const rate = page.getByLabel("Rate", { exact: true }).first();
  await rate.fill("20mbit");
  await rate.press("Tab");
  await page.waitForFunction(() =>
    /rate = "20mbit"/.test(document.querySelector(".cm-content").textContent),
  );
  await page.locator(".cm-line", { hasText: 'rate = "20mbit"' }).click();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+Home");
  await page.keyboard.insertText('rate = "7mbit" # mine');
  await page.waitForFunction(() => document.querySelector("#field-1-rate").value === "7mbit");
  await rate.fill("9mbit");
  await rate.press("Tab");
  await page.waitForFunction(() =>
    /rate = "9mbit" # mine/.test(document.querySelector(".cm-content").textContent),
  );
  assert.deepEqual(problems, []);
});

test("what is being written in a field stays when another edit is taken", { skip }, async () => {
  await open();
  const hash = new URL(page.url()).hash;
  await page.getByLabel("Rate", { exact: true }).first().fill("20mbit");
  await page.keyboard.press("Tab");
  await page.keyboard.type("33ms");
  await page.waitForFunction((before) => location.hash !== before, hash);
  const delay = page.getByLabel("Delay", { exact: true }).first();
  assert.equal(await delay.inputValue(), "33ms");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() =>
    /delay = "33ms"/.test(document.querySelector(".cm-content").textContent),
  );
  assert.deepEqual(problems, []);
});

test("the keyboard goes through an AQM's parameters while they change", { skip }, async () => {
  await open();
  await page.click("#form-b summary");
  await page.fill("#b-target", "20ms");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() =>
    /target=20ms/.test(document.querySelector("#command").textContent),
  );
  const next = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.match(next, /^target, from a tenth/);
  assert.equal(await page.inputValue("#text-b"), "codel:target=20ms");
  await page.fill("#text-b", "codel:target=5ms,interval=50ms");
  await page.press("#text-b", "Tab");
  assert.equal(await page.inputValue("#b-interval"), "50ms");
  assert.deepEqual(problems, []);
});

test("one packet waits, two packets wait", { skip }, async () => {
  await open();
  const found = new Set();
  for (let i = 0; i < 400 && found.size < 2; i++) {
    await page.click("#step");
    const words = await page.textContent("#queue-a p");
    assert.match(words, /^(Nothing waits\.|1 packet waits, .*|([2-9]|\d\d+) packets wait, .*)$/);
    found.add(/packets? waits?/.exec(words)?.[0] ?? "none");
    found.delete("none");
  }
  assert.deepEqual([...found].sort(), ["packet waits", "packets wait"]);
});

test("a preset that is edited is named no longer", { skip }, async () => {
  await open();
  await page.selectOption("#preset", "rfc7928/bursts");
  await shows("scenario-name", "bursts");
  assert.match(await text("preset-words"), /Bursty traffic/);
  const rate = page.getByLabel("Rate", { exact: true }).first();
  await rate.fill("12mbit");
  await rate.press("Tab");
  await page.waitForFunction(() => document.querySelector("#preset").value === "");
  assert.equal(await text("preset-words"), "");
  assert.deepEqual(problems, []);
});

test("a field that was refused keeps its words until they are mended", { skip }, async () => {
  await open();
  const count = page.getByLabel("Number", { exact: true }).first();
  const before = await count.inputValue();
  await count.fill("many");
  await count.press("Tab");
  await page.waitForFunction(() => /count/.test(document.querySelector("#text-error").textContent));
  assert.equal(await count.inputValue(), "many");
  await count.fill(before);
  await count.press("Tab");
  await page.waitForFunction(() => document.querySelector("#text-error").textContent === "");
  await page.waitForFunction(() => !document.querySelector("#run").disabled);
});

test("Run pressed in an edited field runs what was written there", { skip }, async () => {
  await open();
  await page.getByLabel("Duration", { exact: true }).fill("6s");
  await page.selectOption("#speed", "max");
  await page.click("#run");
  await page.waitForSelector("#results .digests", { timeout: 20_000 });
  assert.match(await text("clock"), /6\.000 s of 6 s/);
  assert.deepEqual(problems, []);
});

test("after an edit of the scenario both sides are what their forms show", { skip }, async () => {
  await open();
  await page.selectOption("#speed", "20");
  await page.click("#run");
  await page.waitForFunction(() => parseFloat(document.querySelector("#clock").textContent) > 1);
  await page.click("#run");
  await page.fill("#text-b", "codel:target=20ms");
  await page.press("#text-b", "Tab");
  await page.waitForFunction(() =>
    /runs codel:target=20ms/.test(document.querySelector("#message").textContent),
  );
  const duration = page.getByLabel("Duration", { exact: true });
  await duration.fill("6s");
  await duration.press("Tab");
  await page.waitForFunction(() =>
    document.querySelector("#command").textContent.includes("codel:target=20ms"),
  );
  assert.equal(await page.inputValue("#text-b"), "codel:target=20ms");
  assert.ok(await page.isDisabled("#forget"));
});

test("a warning about the AQM of one side names the side", { skip }, async () => {
  await open();
  for (const side of ["a", "b"]) {
    await page.fill(`#text-${side}`, "codel:target=1us");
    await page.press(`#text-${side}`, "Tab");
    const begin = `${side.toUpperCase()}: links.`;
    await page.waitForFunction(
      (begin) => document.querySelector("#message").textContent.startsWith(begin),
      begin,
    );
    await page.fill(`#text-${side}`, "taildrop");
    await page.press(`#text-${side}`, "Tab");
    await page.waitForFunction(
      () => !document.querySelector("#message").textContent.includes("links."),
    );
  }
  assert.deepEqual(problems, []);
});

test("the plane fills seed by seed, the first seed being that of the run", { skip }, async () => {
  await open();
  await page.fill("#text-b", "pie");
  await page.press("#text-b", "Tab");
  await finish();
  const cells = await page
    .locator("#results tr", { hasText: "delay_mean" })
    .first()
    .locator("td")
    .allTextContents();
  await page.click("#seeds");
  await page.waitForFunction(
    () => /over 10 seeds/.test(document.querySelector("#plane p").textContent),
    null,
    { timeout: 60_000 },
  );
  const rows = await page.locator("#plane tbody tr").allTextContents();
  assert.equal(rows.length, 20);
  assert.ok(
    rows[0].includes(cells[2]) && rows[1].includes(cells[3]),
    `${rows[0]}, ${rows[1]}: ${cells}`,
  );
  assert.equal(await page.locator("#plane ellipse").count(), 2);
  assert.deepEqual(problems, []);
});

test("seeds that were stopped do not come among those of the next click", { skip }, async () => {
  await open();
  await page.click("#seeds");
  await page.waitForSelector("#plane circle");
  await page.evaluate(() => {
    const button = document.getElementById("seeds");
    button.click();
    button.click();
  });
  await page.waitForFunction(
    () => /over 10 seeds/.test(document.querySelector("#plane p").textContent),
    null,
    { timeout: 60_000 },
  );
  const seeds = await page.locator("#plane tbody td:first-child").allTextContents();
  assert.deepEqual(
    seeds,
    Array.from({ length: 20 }, (_, i) => String(1 + Math.floor(i / 2))),
  );
  assert.deepEqual(problems, []);
});

test("what tc shows, pasted, is the AQM of side A", { skip }, async () => {
  await open();
  const paste = (text) =>
    page.evaluate((pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", pasted);
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }, text);
  await paste(
    "qdisc noqueue 0: dev lo root refcnt 2 \n" +
      "qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 " +
      "target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64 \n",
  );
  await page.waitForFunction(() =>
    /fq_codel of eth0 as in the text/.test(document.querySelector("#message").textContent),
  );
  assert.match(await text("message"), /Its limit is left out, as the line has a buffer/);
  assert.match(await page.inputValue("#text-a"), /^fq_codel@linux:.*flows=1024/);
  await finish();
  await paste("qdisc htb 1: dev eth1 root refcnt 2 r2q 10\n");
  await page.waitForFunction(() =>
    /the line of htb lacks default, .* cut off/.test(
      document.querySelector("#message").textContent,
    ),
  );
  assert.equal(await page.locator("#message code").first().textContent(), "default");
  assert.deepEqual(problems, []);
});

test("a pasted set-up has findings and becomes the scenario", { skip }, async () => {
  await open();
  await page.click("#setup > summary");
  await page.fill("#setup-text", "qdisc");
  await page.click("#setup-read");
  await page.waitForFunction(() => document.querySelector("#message.error") !== null);
  await page.fill(
    "#setup-text",
    "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0\n" +
      "qdisc fq_codel 110: dev eth0 parent 1:10 limit 1001p flows 1024 quantum 1514 " +
      "target 5ms interval 100ms memory_limit 4Mb ecn drop_batch 64\n" +
      "class htb 1:10 root leaf 110: prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b\n",
  );
  await page.click("#setup-read");
  await page.waitForFunction(() =>
    /fq_codel of eth0 as in the text/.test(document.querySelector("#message").textContent),
  );
  assert.match(await text("setup-found"), /Wrong: .*Remedy: |Doubtful: .*Remedy: /);
  assert.match(await text("setup-found"), /40ms is assumed/);
  await page.click("#setup-scenario");
  await page.waitForFunction(
    () => document.querySelector("#scenario-name").textContent === "pasted",
  );
  assert.deepEqual(problems, []);
});

test("damaged addresses and foreign files have one sentence each", { skip }, async () => {
  await open("#1.damaged");
  assert.match(await text("message"), /damaged/);
  await open("#9.abc");
  assert.match(await text("message"), /version 9/);
  await page.setInputFiles("#file", {
    name: "x.bin",
    mimeType: "text/plain",
    buffer: Buffer.from("hello"),
  });
  await page.waitForFunction(() =>
    /neither a scenario/.test(document.querySelector("#message").textContent),
  );
  assert.deepEqual(problems, []);
});

test("a file of 500 MB is refused unread", { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "sojourn-web-"));
  try {
    const path = join(folder, "large.trace");
    await writeFile(path, "");
    await truncate(path, 500e6); // a hole, which takes no room
    await open();
    await page.setInputFiles("#file", path);
    await page.waitForFunction(() => /500 MB/.test(document.querySelector("#message").textContent));
    assert.match(await text("message"), /the page takes 64 MB/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a trace that is dropped is the one that the scenario asks for", { skip }, async () => {
  await open();
  await page.selectOption("#preset", "cellular");
  await page.waitForFunction(() =>
    /drop the file/.test(document.querySelector("#message").textContent),
  );
  const times = Array.from({ length: 3000 }, (_, i) => `${2 * i + 2}\n`).join("");
  const buffer = Buffer.from(times);
  await page.setInputFiles("#file", { name: "mine.down", mimeType: "text/plain", buffer });
  await page.waitForFunction(
    () => document.querySelector("#scenario-name").textContent === "cellular",
  );
  await finish();
  assert.deepEqual(problems, []);
});

test("a trace that no link asks for is said to be none that is used", { skip }, async () => {
  await open();
  const buffer = Buffer.from("1\n2\n3\n");
  await page.setInputFiles("#file", { name: "mine.down", mimeType: "text/plain", buffer });
  await page.waitForFunction(() =>
    /no link of this scenario asks for one/.test(document.querySelector("#message").textContent),
  );
  assert.match(await text("message"), /write rate = { kind = "trace", file = "mine.down" }/);
  assert.deepEqual(problems, []);
});

for (const [missing, words] of [
  ["WebAssembly", /no WebAssembly/],
  ["Worker", /no web workers/],
]) {
  test(`a browser without ${missing} gets one message about it`, { skip }, async () => {
    await open();
    await page.addInitScript((name) => delete window[name], missing);
    await page.reload();
    await page.waitForFunction(() => document.querySelector("#message").textContent !== "");
    assert.match(await text("message"), words);
  });
}

test("ten million flows are refused and the page goes on", { skip }, async () => {
  await open();
  const count = page.getByLabel("Number", { exact: true }).first();
  await count.fill("10000000");
  await count.press("Tab");
  await page.waitForFunction(() => document.querySelector("#text-error").textContent !== "");
  // What was there before does not run under the text that is refused.
  await page.waitForFunction(() => document.querySelector("#run").disabled);
  await page.getByLabel("Number", { exact: true }).first().fill("2");
  await page.getByLabel("Number", { exact: true }).first().press("Tab");
  await page.waitForFunction(() => document.querySelector("#text-error").textContent === "");
  await finish();
});

test("the page has no violation that axe-core finds, in both themes", { skip }, async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open("", { colorScheme, bypassCSP: true });
    await finish();
    assert.deepEqual(await violations(page), [], colorScheme);
  }
});

test("nothing is wider than the page at 360, 800 and 1440 pixels", { skip }, async () => {
  for (const width of [360, 800, 1440]) {
    for (const colorScheme of ["light", "dark"]) {
      await open("", { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" });
      await finish();
      const wide = await page.evaluate(() => {
        document.querySelectorAll(".side details").forEach((one) => (one.open = true));
        return document.documentElement.scrollWidth;
      });
      assert.ok(wide <= width, `${wide} pixels at ${width}`);
      if (process.env.PICTURES) {
        const path = join(process.env.PICTURES, `${width}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: true });
      }
    }
  }
});
