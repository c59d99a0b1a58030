// The link of both AQMs, whose queue is plotted.

import { by } from "./dom";
import type { Checked } from "./protocol";

/** Names the link; if the scenario has several, a field chooses one. */
export function showLinks({ document, watched }: Checked): void {
  const names = Object.keys(document.links);
  by("link-name").textContent = watched;
  by("links").hidden = names.length < 2;
  const select = by<HTMLSelectElement>("link");
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  select.value = watched;
}
