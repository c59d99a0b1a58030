// The tutorials as they are walked: for each page the links to the live page in their order, for
// each link one act per numbered step of the text below it.

import assert from "node:assert/strict";
import {
  finish,
  look,
  numbers,
  parameter,
  paste,
  runFor,
  says,
  set,
  states,
  until,
  value,
  why,
} from "./hands.mjs";

const rates = async (page, metric, of) => (await numbers(page, metric, of)).map(value);
const seconds = rates;

/** Runs under another buffer: the delay of tail drop is at most what the buffer holds. */
const buffer = (size, longest_ms) => async (page) => {
  await set(page, "Buffer", size);
  await finish(page);
  const [tail, codel] = await seconds(page, "delay_mean");
  assert.ok(tail <= longest_ms / 1e3 && codel <= tail, `${tail} s and ${codel} s at ${size}`);
  await look(page, "#results");
};

/** How far a curve of the state's plot swings after half of the run: standard deviation / mean. */
async function swing(page, side) {
  const folded = page.locator("#state details:not([open]) summary");
  if (await folded.count()) await folded.first().click();
  // The table follows the plot in its own time: its last row is of the end of the run.
  await page.waitForFunction(() => {
    const last = document.querySelector("#state details tbody tr:last-child")?.cells[0].textContent;
    const [, end] = /of ([\d.]+) s/.exec(document.querySelector("#clock").textContent);
    return parseFloat(last) > 0.9 * Number(end);
  });
  const texts = await page
    .locator("#state details tbody tr")
    .evaluateAll((rows, side) => rows.map((row) => row.cells[side + 1].textContent), side);
  const values = texts.filter((text) => text !== "–").map(value);
  const late = values.slice(values.length / 2);
  const mean = late.reduce((sum, one) => sum + one, 0) / late.length;
  return Math.sqrt(late.reduce((sum, one) => sum + (one - mean) ** 2, 0) / late.length) / mean;
}

export const TUTORIALS = {
  "first-comparison": [
    [
      async (page) => {
        await runFor(page, 12);
        await says(page, "#queue-b", " the oldest for ");
        await look(page, ".now");
      },
      async (page) => {
        await parameter(page, "b", "target", "5ms");
        await says(page, "#message", "Side B runs pie:target=5ms");
        await until(page, 30);
        await look(page, "#delay");
      },
      async (page) => {
        await finish(page);
        const [codel, pie] = await seconds(page, "delay_p95");
        assert.ok(codel > 0 && pie > 0);
        await look(page, "#results");
      },
      async (page) => {
        const before = await rates(page, "drop_rate");
        await set(page, "Number", "50");
        await finish(page);
        const after = await rates(page, "drop_rate");
        assert.ok(
          after.every((rate, i) => rate > 10 * before[i]),
          `${before} and ${after}`,
        );
        await look(page, "#results");
      },
    ],
  ],
  "first-aqm": [
    [
      async (page) => {
        await states(page, "count");
        await runFor(page, 20, "20");
        await look(page, "#state");
      },
      async (page) => {
        await finish(page);
        await why(page, "B");
        await says(page, "#why", "count");
        await look(page, "#why-section");
      },
      async (page) => {
        await set(page, "Number", "50");
        await states(page, "count");
        await finish(page);
        await look(page, "#state");
      },
    ],
  ],
  "first-paper": [],
  "why-did-my-call-stutter": [
    [
      async (page) => {
        await runFor(page, 20);
        await says(page, "#queue-a", "call");
        await look(page, ".now");
      },
      async (page) => {
        await finish(page);
        const [bad, good] = await rates(page, "voice_mos");
        assert.ok(bad < 1.5 && good > 4, `opinion scores ${bad} and ${good}`);
        await look(page, "#results");
      },
      async (page) => {
        await paste(
          page,
          "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 1900Kbit besteffort triple-isolate " +
            "nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0 \n",
        );
        await says(page, "#message", "cake of eth0");
        await look(page, "#message");
      },
    ],
  ],
  "ecn-and-l4s": [
    [
      async (page) => {
        await runFor(page, 4, "1");
        await page.click("#run");
        await says(page, "#run", "Run");
        assert.match(await page.textContent("#counts-b"), /[1-9]\d* marked/);
        await look(page, "#delay");
      },
      async (page) => {
        await why(page, "B");
        await look(page, "#why-section");
      },
      async (page) => {
        await finish(page);
        const [pie, dual] = await rates(page, "goodput", "classic");
        assert.ok(pie < dual / 2, `${pie} and ${dual} bit/s`);
        await look(page, "#results");
      },
    ],
  ],
  course: [
    [buffer("25kB", 20), buffer("125kB", 100), buffer("500kB", 400)],
    [
      async (page) => {
        await runFor(page, 10);
        await look(page, "#delay");
      },
      async (page) => {
        await parameter(page, "a", "interval", "100ms");
        await says(page, "#message", "Side A runs codel from");
        await parameter(page, "b", "interval", "100ms");
        await says(page, "#message", "Side B runs codel from");
        await look(page, "#form-a");
      },
      async (page) => {
        await finish(page);
        await look(page, "#delay");
      },
    ],
    [
      async (page) => {
        await finish(page);
        await states(page, "drop_prob");
        page.swing = await swing(page, 0);
        await look(page, "#state");
      },
      async (page) => {
        await set(page, "Number", "50");
        await finish(page);
        const calm = await swing(page, 0);
        assert.ok(calm < page.swing, `${page.swing} with 5 flows, ${calm} with 50`);
        await look(page, "#state");
      },
    ],
    [
      async (page) => {
        await runFor(page, 10);
        await says(page, "#queue-a", "udp");
        await look(page, ".now");
      },
      async (page) => {
        await finish(page);
        const [under, fair] = await rates(page, "goodput", "tcp");
        assert.ok(fair > 5 * under, `${under} and ${fair} bit/s`);
        await look(page, "#results");
      },
    ],
    [
      async (page) => {
        await finish(page);
        const [far, near] = [
          await rates(page, "goodput", "far"),
          await rates(page, "goodput", "near"),
        ];
        assert.ok(near[1] / far[1] > near[0] / far[0], `${near} and ${far} bit/s`);
        await look(page, "#results");
      },
      async (page) => {
        await set(page, "Base RTT", "100ms", "Flows near");
        await finish(page);
        const [far] = await rates(page, "goodput", "far");
        const [near] = await rates(page, "goodput", "near");
        assert.ok(near < 1.5 * far, `${near} and ${far} bit/s`);
        await look(page, "#results");
      },
    ],
    [
      async (page) => {
        await finish(page);
        await look(page, "#results");
      },
      async (page) => {
        await page.click("#seeds");
        await says(page, "#plane p", "over 10 seeds");
        await look(page, "#plane");
      },
    ],
  ],
  "course-solutions": [],
};
