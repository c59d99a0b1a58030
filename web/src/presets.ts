// Presets: the shipped scenarios and typical lines.

import cellular from "../../python/sojourn/scenarios/cellular.toml";
import cellularTwoWay from "../../python/sojourn/scenarios/cellular-two-way.toml";
import dumbbellCubic from "../../python/sojourn/scenarios/dumbbell-cubic.toml";
import dumbbellReno from "../../python/sojourn/scenarios/dumbbell-reno.toml";
import onoff from "../../python/sojourn/scenarios/onoff.toml";
import parkingLot from "../../python/sojourn/scenarios/parking-lot.toml";
import rateSteps from "../../python/sojourn/scenarios/rate-steps.toml";
import rrul from "../../python/sojourn/scenarios/rrul.toml";
import trafficMix from "../../python/sojourn/scenarios/traffic-mix.toml";
import twoWay from "../../python/sojourn/scenarios/two-way.toml";
import unresponsive from "../../python/sojourn/scenarios/unresponsive.toml";
import wlan from "../../python/sojourn/scenarios/wlan.toml";
import { RFC_7928 } from "./rfc7928";

export interface Preset {
  name: string;
  title: string;
  words: string;
  text: string;
  kind: "line" | "scenario" | "rfc7928";
}

interface Line {
  name: string;
  title: string;
  words: string;
  rate: string;
  rtt: string;
  delay: string;
  buffer: string;
  bulk: number;
  more?: string;
}

function line(of: Line): Preset {
  const text = `# ${of.words}
name = "${of.name}"
seed = 1
duration = "30s"
warmup = "5s"

[links.bottleneck]
rate = "${of.rate}"
delay = "${of.delay}"
buffer = "${of.buffer}"
queue = "taildrop"${of.more ?? ""}

# Downloads or uploads that always have more to send.
[[flows]]
name = "bulk"
count = ${of.bulk}
path = ["bottleneck"]
rtt = "${of.rtt}"
cc = "cubic"
start = "0s..1s"
app = { kind = "bulk" }

# A call: 50 packets a second.
[[flows]]
name = "voip"
count = 1
path = ["bottleneck"]
rtt = "${of.rtt}"
app = { kind = "cbr", rate = "87kbit", packet = "218B", voice = true }
`;
  return { name: of.name, title: of.title, words: of.words, text, kind: "line" };
}

const LINES: Preset[] = [
  line({
    name: "dsl",
    title: "DSL downstream",
    rate: "16mbit",
    rtt: "30ms",
    delay: "8ms",
    buffer: "500kB",
    bulk: 3,
    words: "A DSL line of 16 Mbit/s whose modem can hold a quarter of a second of traffic.",
  }),
  line({
    name: "cable-upstream",
    title: "Cable upstream",
    rate: "5mbit",
    rtt: "40ms",
    delay: "12ms",
    buffer: "312kB",
    bulk: 2,
    words:
      "The upstream of a cable modem: 5 Mbit/s, half a second of buffer. An upload ruins a call.",
  }),
  line({
    name: "lte",
    title: "LTE, rate that changes",
    rate: "20mbit",
    rtt: "60ms",
    delay: "20ms",
    buffer: "2.5MB",
    bulk: 2,
    words: "A mobile link whose rate moves between 4 and 20 Mbit/s, with a full second of buffer.",
  }),
  line({
    name: "starlink-like",
    title: "Satellite in low orbit",
    rate: "80mbit",
    rtt: "50ms",
    delay: "20ms",
    buffer: "1MB",
    bulk: 4,
    words: "Some 80 Mbit/s over satellites in low orbit; each hand-over changes the rate.",
  }),
  line({
    name: "data-centre",
    title: "Data centre",
    rate: "1gbit",
    rtt: "200us",
    delay: "50us",
    buffer: "500kB",
    bulk: 8,
    words: "A switch port of 1 Gbit/s, 200 µs of RTT: targets for the Internet are far too long.",
  }),
];

const STEPS: Record<string, string> = {
  lte: '[["0s", "20mbit"], ["6s", "8mbit"], ["12s", "4mbit"], ["18s", "12mbit"]]',
  "starlink-like": '[["0s", "80mbit"], ["15s", "55mbit"]]',
};

function withSteps(preset: Preset): Preset {
  const steps = STEPS[preset.name];
  let text = preset.text;
  if (steps)
    text = text.replace(
      /rate = "\d+mbit"\ndelay/,
      `rate = { kind = "schedule", steps = ${steps} }\ndelay`,
    );
  if (preset.name === "data-centre") {
    text = text
      .replace(
        'duration = "30s"\nwarmup = "5s"',
        'duration = "1s"\nwarmup = "100ms"\nrecord = { sample = "1ms" }',
      )
      .replace('start = "0s..1s"', 'start = "0s..10ms"');
  }
  return { ...preset, text };
}

/** The first paragraph of a scenario's comment. */
function words(text: string): string {
  const lines = [];
  for (const one of text.split("\n")) {
    if (!/^#\s*\S/.test(one)) break;
    lines.push(one.replace(/^#\s*/, ""));
  }
  return lines.join(" ");
}

function shipped(name: string, title: string, text: string): Preset {
  return { name, title, text, words: words(text), kind: "scenario" };
}

export const PRESETS: Preset[] = [
  ...LINES.map(withSteps),
  shipped("wlan", "Wi-Fi", wlan),
  shipped("traffic-mix", "Downloads, voice and web on one line", trafficMix),
  shipped("dumbbell-cubic", "CUBIC downloads", dumbbellCubic),
  shipped("dumbbell-reno", "Reno downloads", dumbbellReno),
  shipped("onoff", "Bursts", onoff),
  shipped("rate-steps", "A rate that steps", rateSteps),
  shipped("two-way", "Traffic in both directions", twoWay),
  shipped("rrul", "Response under load", rrul),
  shipped("parking-lot", "Several bottlenecks in a row", parkingLot),
  shipped("unresponsive", "A flow that does not respond", unresponsive),
  shipped("cellular", "Cellular, needs a trace", cellular),
  shipped("cellular-two-way", "Cellular in both directions, needs a trace", cellularTwoWay),
  ...RFC_7928.map(([name, title, text]): Preset => ({
    ...shipped(name, title, text),
    kind: "rfc7928",
  })),
];
