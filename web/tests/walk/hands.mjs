// What a reader does on the live page, by the words that stand on it.

const limit_s = Number(process.env.WALK_LIMIT_S ?? 60);
if (!(limit_s > 0)) throw new Error("WALK_LIMIT_S must be a number of seconds, such as 300");

/** A page that waits at most WALK_LIMIT_S seconds for anything; without it a minute. */
export async function opened(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(limit_s * 1000);
  return page;
}

/** Waits until the page says something that has these words. */
async function says(page, selector, words) {
  await page.waitForFunction(
    ([selector, words]) => document.querySelector(selector)?.textContent.includes(words),
    [selector, words],
  );
}

async function until(page, seconds) {
  await page.waitForFunction(
    (seconds) => parseFloat(document.querySelector("#clock").textContent) >= seconds,
    seconds,
  );
}

/** Presses Run and waits for some simulated seconds; it goes on. */
export async function runFor(page, seconds, speed = "5") {
  await page.selectOption("#speed", speed);
  await page.click("#run");
  await until(page, seconds);
}

/** Runs to the end as fast as it goes. */
export async function finish(page) {
  await page.selectOption("#speed", "max");
  // A run that goes on is shown as one: its button says so since the step before.
  if ((await page.textContent("#run")) !== "Pause") await page.click("#run");
  await page.waitForSelector("#results .digests");
}

/** Writes into a field of the scenario's form, in the set of this name where several have it, and
 *  waits until the text has it and nothing of it has run. */
export async function set(page, label, value, within = "") {
  const sets = page.locator("#scenario-form fieldset", { hasText: within });
  const field = sets.getByLabel(label, { exact: true }).first();
  await field.fill(value);
  await field.press("Tab");
  await says(page, ".cm-content", value);
  await page.waitForSelector("#results .digests", { state: "detached" });
  await page.waitForFunction(() =>
    document.querySelector("#clock").textContent.startsWith("0.000 s"),
  );
  const refused = await page.textContent("#text-error");
  if (refused) throw new Error(refused);
}

/** Changes a parameter of a side by its field, in the form of its AQM. */
export async function parameter(page, side, name, value) {
  const field = page.locator(`#${side}-${name}`);
  const folded = page.locator(`#form-${side} details:not([open]) summary`);
  if (await folded.count()) await folded.first().click();
  await field.fill(value);
  await field.press("Tab");
}

/** Shows a variable of the law of each side. */
export async function states(page, variable) {
  await unfold(page, "#state");
  for (const side of ["a", "b"]) {
    const names = await page.locator(`#var-${side} option`).allTextContents();
    if (names.includes(variable)) await page.selectOption(`#var-${side}`, variable);
  }
}

/** Opens what a narrow page has folded around a part. */
async function unfold(page, selector) {
  await page.locator(selector).evaluate((part) => {
    const folded = part.closest("details:not([open])");
    if (folded) folded.open = true;
  });
}

/** Shows a part of the page, below the bar of controls. */
export async function look(page, selector) {
  await unfold(page, selector);
  await page.locator(selector).evaluate((part) => {
    const bar = document.querySelector(".controls");
    const covered = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
    const heading = part.closest("section")?.querySelector("h2") ?? part;
    const near = part.getBoundingClientRect().top - heading.getBoundingClientRect().top < 120;
    const top = (near ? heading : part).getBoundingClientRect().top;
    scrollBy(0, top - covered - 12);
  });
}

/** A headline number of both sides, as the page writes it: `67.7 ms`. */
export async function numbers(page, metric, of = "") {
  const rows = await page.locator("#results table").first().locator("tbody tr").all();
  for (const row of rows) {
    const cells = await row.locator("td").allTextContents();
    if (cells[1] === metric && cells[0].includes(of)) return [cells[2], cells[3]];
  }
  throw new Error(`no number ${metric} of ${of || "anything"}`);
}

/** A number of the page in base units. */
export function value(text) {
  const found = /^([\d.e+-]+) ?([GMkmµ]?)/.exec(text);
  if (!found) throw new Error(`${text} is not a number`);
  const factors = { G: 1e9, M: 1e6, k: 1e3, m: 1e-3, µ: 1e-6, "": 1 };
  return Number(found[1]) * factors[found[2]];
}

/** Pastes a text outside the fields. */
export async function paste(page, text) {
  await page.evaluate((pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  }, text);
}

/** Opens the why of the last drop or mark of a side. */
export async function why(page, side) {
  const folded = page.locator("#why-section details:not([open]) summary");
  if (await folded.count()) await folded.first().click();
  await page
    .locator("#signals button", { hasText: `${side}:` })
    .last()
    .click();
  await page.waitForFunction(() =>
    /dropped|marked/.test(document.querySelector("#why").textContent),
  );
}

export { says, until };
