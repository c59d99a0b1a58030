// Pasted output of `tc qdisc show`: its queue for side A, its scenario, what is wrong with it.

import { parse, write } from "./aqm-text";
import type { Client } from "./client";
import { by, element, withCode } from "./dom";
import type { Finding, Setup } from "./protocol";

type Queue = NonNullable<Setup["queue"]>;

/** What the page does with a set-up. */
export interface Use {
  /** Side A gets its queue. */
  queue(of: Queue): Promise<void>;
  /** The page gets its scenario, and side A its queue. */
  scenario(text: string, queue: Queue | null): void;
  say(sentence: string, kind: "note" | "error"): void;
}

/** The AQM without its limit, for a link that has a buffer. */
export function withoutLimit(text: string): string {
  const aqm = parse(text);
  aqm.settings.delete("limit");
  return write(aqm);
}

function list(title: string, items: Node[]): Node[] {
  if (items.length === 0) return [];
  return [element("h3", { textContent: title }), element("ul", {}, ...items)];
}

const sentence = (text: string): Node => element("li", {}, ...withCode(text));

function finding(of: Finding): Node {
  const seen = of.evidence ? `line ${of.line}: ${of.evidence}` : `line ${of.line}`;
  return element(
    "li",
    {},
    element("strong", {}, `${of.severity === "wrong" ? "Wrong" : "Doubtful"}: `),
    ...withCode(`${of.title} (${seen}). Why: ${of.reason}. Remedy: ${of.remedy}.`),
  );
}

export class SetupPanel {
  private readonly text = by<HTMLTextAreaElement>("setup-text");
  private readonly device = by<HTMLSelectElement>("setup-device");
  private readonly all = by<HTMLButtonElement>("setup-scenario");
  private found: Setup | null = null;

  constructor(
    private readonly client: Client,
    private readonly use: Use,
  ) {
    by("setup-read").onclick = () => void this.read();
    this.device.onchange = () => void this.read();
    this.text.oninput = () => this.device.replaceChildren();
    this.all.onclick = () => {
      if (this.found?.scenario) this.use.scenario(this.found.scenario, this.found.queue);
    };
  }

  /** Shows a text from elsewhere; rejects, as the simulator refuses a text without a set-up. */
  async open(text: string): Promise<void> {
    this.text.value = text;
    this.device.replaceChildren();
    await this.ask();
  }

  private async read(): Promise<void> {
    try {
      await this.ask();
    } catch (failure) {
      this.clear();
      this.use.say((failure as Error).message, "error");
    }
  }

  private clear(): void {
    by("setup-found").replaceChildren();
    this.all.disabled = true;
  }

  private async ask(): Promise<void> {
    const given = (id: string): string | undefined =>
      by<HTMLInputElement>(id).value.trim() || undefined;
    const setup = await this.client.ask<Setup>({
      call: "setup",
      text: this.text.value,
      rate: given("setup-rate"),
      rtt: given("setup-rtt"),
      device: given("setup-device"),
    });
    by<HTMLDetailsElement>("setup").open = true;
    this.show(setup);
    if (setup.queue) await this.use.queue(setup.queue);
    else if (setup.refusal) this.use.say(setup.refusal, "error");
  }

  private show(setup: Setup): void {
    this.choices(setup);
    this.found = setup;
    this.all.disabled = setup.scenario === null;
    const why = setup.refusal ? [`No scenario: ${setup.refusal}`] : [];
    by("setup-found").replaceChildren(
      ...why.map((text) => element("p", { className: "error" }, ...withCode(text))),
      ...list("Wrong or doubtful", setup.findings.map(finding)),
      ...list("Read", setup.read.map(sentence)),
      ...list("Not in the text, or without a counterpart here", setup.unknown.map(sentence)),
    );
  }

  /** The devices to choose from, if there are several. */
  private choices({ devices, queue }: Setup): void {
    const chosen = this.device.value || (queue?.device ?? "");
    const names = devices.includes(chosen) ? devices : ["", ...devices];
    this.device.replaceChildren(
      ...names.map((name) => element("option", { value: name, textContent: name || "choose one" })),
    );
    this.device.value = chosen;
    by("setup-devices").hidden = devices.length < 2;
  }
}
