// Walks through every tutorial and exercise of the built site in Chromium: opens its page, follows
// its links to the live page, and does there what the numbered steps of the text say, one act for
// each. Every step leaves a picture, at 1440 and 360 pixels, light and dark; FOLDER/index.html shows
// them next to the text. Ends with 1 on an error of a page, a request to elsewhere, a link without
// a target, a step that does not do what it says, or a text and acts that are not of one length.
//
//     node web/tests/walk.mjs FOLDER [TUTORIAL...]       (after `make site`, with the live page)
//
// A step may take WALK_LIMIT_S seconds, 60 without it: give it more on a busy machine.

import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { FLAGS, root, serveFolder } from "./support.mjs";
import { opened } from "./walk/hands.mjs";
import { TUTORIALS } from "./walk/tutorials.mjs";

const SITE = join(root, "out/site/html");
const VIEWS = [1440, 360].flatMap((width) =>
  ["light", "dark"].map((colorScheme) => ({ width, colorScheme })),
);

const [out, ...chosen] = process.argv.slice(2);
if (!out || !existsSync(join(SITE, "live/sojourn.wasm"))) {
  console.error("node web/tests/walk.mjs FOLDER [TUTORIAL...], after `make web site`");
  process.exit(2);
}
const problems = [];
const pictures = [];

/** A page whose errors and requests to elsewhere are problems. */
async function watched(context, home) {
  const page = await opened(context);
  const problem = (what) => problems.push(`${page.url().split("#")[0]}: ${what}`);
  page.on("console", (message) => {
    if (message.type() === "error") problem(message.text());
  });
  page.on("pageerror", (error) => problem(error.message));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(home) && !/^(data|blob):/.test(url)) problem(`request to ${url}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) problem(`${response.status()} for ${response.url()}`);
  });
  return page;
}

/** Every link of a page leads to a page of the site that is there, and to a place that it has. */
async function checkLinks(page, home) {
  const links = await page.locator("article a[href]").evaluateAll((all) => all.map((a) => a.href));
  for (const link of new Set(links)) {
    const [address, anchor] = link.split("#");
    if (!address.startsWith(home) || address.includes("/live/")) continue;
    const file = join(SITE, decodeURIComponent(new URL(address).pathname));
    const text = await readFile(file, "utf8").catch(() => null);
    if (text === null) problems.push(`${page.url()}: ${link} is not there`);
    else if (anchor && !text.includes(`id="${anchor}"`))
      problems.push(`${page.url()}: ${link} has no such place`);
  }
}

/** The links of a page to the live page, each with the numbered steps below it. */
function livePlaces(page) {
  return page.locator("p.live:has(a[href*='/live/'])").evaluateAll((all) =>
    all.map((place) => {
      let list = place.nextElementSibling;
      // A sentence may stand between them.
      while (list?.tagName === "P" && !list.classList.contains("live"))
        list = list.nextElementSibling;
      const steps = list?.tagName === "OL" ? [...list.children] : [];
      const words = steps.map((step) => step.innerText.replace(/\s+/g, " ").trim());
      return { address: place.querySelector("a").href, title: place.innerText, words };
    }),
  );
}

async function picture(page, name, words, view) {
  const file = `${name}-${view.width}-${view.colorScheme}.png`;
  // A plot is drawn with the next picture of the browser.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60))),
  );
  await page.screenshot({ path: join(out, file) });
  pictures.push({ file, words, view });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > view.width) problems.push(`${file}: ${wide} pixels wide`);
}

async function walk(name, context, home, view) {
  const page = await watched(context, home);
  await page.goto(`${home}tutorials/${name}.html`);
  await checkLinks(page, home);
  const height = page.viewportSize().height;
  await picture(page, `${name}-page`, `The page ${name}`, view);
  const whole = join(out, `${name}-whole-${view.width}-${view.colorScheme}.png`);
  await page.screenshot({ path: whole, fullPage: true });
  const places = await livePlaces(page);
  const acts = TUTORIALS[name];
  const [text, script] = [places.map((place) => place.words.length), acts.map((of) => of.length)];
  if (text.join() !== script.join())
    problems.push(`${name}: the text has ${text} steps below its links, the walk ${script}`);
  for (const [i, place] of places.entries()) {
    const live = await watched(context, home);
    await live.setViewportSize({ width: view.width, height });
    await live.goto(place.address);
    await live.waitForSelector("#main:not([aria-busy])");
    await picture(live, `${name}-${i + 1}-0`, place.title, view);
    for (const [j, act] of (acts[i] ?? []).entries()) {
      const words = place.words[j] ?? "";
      try {
        await act(live);
      } catch (error) {
        problems.push(`${name}, link ${i + 1}, step ${j + 1} (${words}): ${error.message}`);
      }
      await picture(live, `${name}-${i + 1}-${j + 1}`, words, view);
    }
    await live.close();
  }
  await page.close();
}

function escape(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function shownPage() {
  const figures = pictures.map(
    ({ file, words, view }) =>
      `<figure><img src="${file}" width="${Math.min(view.width, 720)}" alt="">` +
      `<figcaption>${escape(words)} (${view.width} px, ${view.colorScheme})</figcaption></figure>`,
  );
  return `<!doctype html><meta charset="utf-8"><title>The walk</title>${figures.join("\n")}\n`;
}

await mkdir(out, { recursive: true });
const names = chosen.length > 0 ? chosen : Object.keys(TUTORIALS);
const written = (await readdir(join(SITE, "tutorials"))).filter((file) => file.endsWith(".html"));
for (const file of written) {
  if (!(file.slice(0, -5) in TUTORIALS)) problems.push(`tutorials/${file} is not walked`);
}
const server = await serveFolder(SITE);
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: FLAGS });
for (const view of VIEWS) {
  const viewport = { width: view.width, height: view.width < 600 ? 740 : 900 };
  const options = { viewport, colorScheme: view.colorScheme, reducedMotion: "reduce" };
  const context = await browser.newContext(options);
  for (const name of names) await walk(name, context, server.address, view);
  await context.close();
}
await browser.close();
server.close();
await writeFile(join(out, "index.html"), shownPage());
console.log(`${pictures.length} pictures in ${out}/index.html`);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
