// Why a packet was dropped or marked, in words.

import type { History, Reason } from "./history";
import { shown } from "./plots";

const PLACES = {
  enqueue: "on arrival",
  queued: "while it waited",
  dequeue: "at the head of the queue, about to leave",
};

export function sentence(history: History, { signal }: Reason): string {
  const what = signal.is_mark ? "marked (CE)" : "dropped";
  const waited =
    signal.stage === "enqueue" ? "" : ` It had waited ${shown(signal.sojourn_s, "s")}.`;
  return (
    `At ${Number(signal.t.toFixed(6))} s packet ${signal.seq} of ${history.groupOf(signal.flow)} ` +
    `(${signal.bytes} B) was ${what} ${PLACES[signal.stage]}: ${signal.rule}.${waited}`
  );
}

/** The explanation as an element: the sentence, then the state of the law just before. */
export function explanation(history: History, reason: Reason): HTMLElement {
  const box = document.createElement("div");
  const text = document.createElement("p");
  text.textContent = sentence(history, reason);
  box.append(text);
  if (reason.signal.state.length > 0) {
    const list = document.createElement("dl");
    reason.vars.forEach((of, i) => {
      const [name, value] = [document.createElement("dt"), document.createElement("dd")];
      name.textContent = of.name;
      value.textContent = `${shown(reason.signal.state[i], of.unit)} – ${of.doc}`;
      list.append(name, value);
    });
    const title = document.createElement("h3");
    title.textContent = "The law just before";
    box.append(title, list);
  }
  return box;
}
