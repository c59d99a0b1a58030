// Every shipped scenario has the native digest in Firefox, whose name or path FIREFOX has: a page
// of this test runs them in the page's worker and posts what it got. No driver is needed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fingerprints, serve } from "./support.mjs";

const executablePath = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const skip = existsSync(executablePath) ? false : "no Firefox; install the package firefox-esr";

const RUN = `
const worker = new Worker("worker.js", { type: "module" });
const asked = await (await fetch("settings")).json();
const answers = asked.map(() => null);
worker.onmessage = ({ data: { id, answer } }) => {
  answers[id] = answer.ok?.digest ?? answer.error.message;
  if (answers.every((one) => one !== null))
    fetch("digests", { method: "POST", body: JSON.stringify([navigator.userAgent, ...answers]) });
};
asked.forEach((setting, id) => worker.postMessage({ id, request: { call: "run", ...setting } }));
`;

test("every shipped scenario has the native digest in Firefox", { skip }, async () => {
  const records = (await fingerprints()).filter((one) => one.aqm === "as-shipped");
  let arrived;
  const digests = new Promise((resolve) => (arrived = resolve));
  const server = await serve({
    test: ["text/html", `<!doctype html><script type="module">${RUN}</script>`],
    settings: ["application/json", JSON.stringify(records.map((one) => one.setting))],
    digests: (body) => arrived(JSON.parse(body)),
  });
  const profile = await mkdtemp(join(tmpdir(), "sojourn-firefox-"));
  const words = ["--headless", "--no-remote", "--profile", profile, `${server.address}test`];
  const browser = spawn(executablePath, words, { stdio: "ignore" });
  try {
    const [agent, ...found] = await digests;
    assert.match(agent, /Firefox/);
    assert.deepEqual(
      found,
      records.map((one) => one.digest),
    );
  } finally {
    const ended = new Promise((resolve) => browser.once("exit", resolve));
    browser.kill();
    await ended;
    server.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
