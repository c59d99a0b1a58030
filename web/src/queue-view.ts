// The queue: each packet is a block in the colour of its flow, with the head at the right.

import { counted } from "./dom";
import type { History } from "./history";
import { flowColour } from "./theme";

export class QueueView {
  private readonly strip = document.createElement("div");
  private readonly text = document.createElement("p");

  constructor(
    parent: HTMLElement,
    private readonly side: string,
  ) {
    this.strip.className = "queue";
    this.strip.setAttribute("role", "img");
    parent.append(this.strip, this.text);
  }

  show(history: History): void {
    const { waiting, waitingCount } = history;
    const blocks = waiting.slice(0, 240).map(([flow, bytes]) => {
      const block = document.createElement("i");
      block.style.background = flowColour(flow);
      block.style.width = `${Math.max(2, (bytes / 1500) * 6)}px`;
      return block;
    });
    this.strip.replaceChildren(...blocks);
    const flows = new Map<string, number>();
    for (const [flow] of waiting) {
      const name = history.groupOf(flow);
      flows.set(name, (flows.get(name) ?? 0) + 1);
    }
    const most = [...flows].sort((one, other) => other[1] - one[1]).slice(0, 3);
    const words = most.map(([name, count]) => `${name}: ${count}`).join(", ");
    const oldest = waiting[0]?.[2] ?? 0;
    const wait = `${counted(waitingCount, "packet")} ${waitingCount === 1 ? "waits" : "wait"}`;
    this.text.textContent =
      waitingCount === 0
        ? "Nothing waits."
        : `${wait}, the oldest for ${(oldest * 1e3).toFixed(1)} ms. ${words}`;
    this.strip.setAttribute("aria-label", `Queue ${this.side}: ${this.text.textContent}`);
  }
}
