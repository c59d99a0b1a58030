// Links and flows as a form that edits the scenario's TOML text, the only state.

import type { Checked, Table } from "./protocol";
import { type TablePlace, setKey } from "./toml";

interface Field {
  label: string;
  place: TablePlace;
  key: string;
  value: unknown;
  isNumber?: boolean;
}

interface FieldSet {
  title: string;
  fields: Field[];
}

/** Keys that can be edited here; others, and values that are tables, are edited in the text. */
function fields(checked: Checked): FieldSet[] {
  const { document } = checked;
  const top: TablePlace = { header: "" };
  const run = {
    title: "Run",
    fields: [
      { label: "Duration", place: top, key: "duration", value: document.duration },
      { label: "Warm-up", place: top, key: "warmup", value: document.warmup ?? "0s" },
    ],
  };
  const links = Object.entries(document.links).map(([name, link]) => {
    const place = { header: `links.${name}` };
    const field = (label: string, key: string): Field => ({
      label,
      place,
      key,
      value: (link as Table)[key],
    });
    return {
      title: `Link ${name}`,
      fields: [field("Rate", "rate"), field("Delay", "delay"), field("Buffer", "buffer")],
    };
  });
  const flows = document.flows.map((flow, index) => {
    const place = { header: "flows", index };
    const field = (label: string, key: string): Field => ({ label, place, key, value: flow[key] });
    const count = { ...field("Number", "count"), value: flow.count ?? 1, isNumber: true };
    return {
      title: `Flows ${String(flow.name ?? index + 1)}`,
      fields: [count, field("Base RTT", "rtt"), field("Congestion control", "cc")],
    };
  });
  const isPlain = ({ value }: Field): boolean =>
    typeof value === "string" || typeof value === "number";
  return [run, ...links, ...flows].map((set) => ({ ...set, fields: set.fields.filter(isPlain) }));
}

/** If the fields of a form stay the same, they are kept with their values, so that the user can
 *  continue typing with the same keyboard focus. */
function update(parent: HTMLElement, sets: FieldSet[]): void {
  sets.forEach(({ fields: all }, set) => {
    for (const field of all) {
      const input = parent.querySelector<HTMLInputElement>(`#field-${set}-${field.key}`);
      if (!input) continue;
      const isWritten = input === document.activeElement && input.value !== input.defaultValue;
      input.defaultValue = String(field.value);
      if (!isWritten) input.value = input.defaultValue;
      const note = input.nextElementSibling;
      if (note) note.textContent = "";
    }
  });
}

export function showForm(
  parent: HTMLElement,
  checked: Checked,
  text: () => string,
  onChange: (text: string) => void,
): void {
  const all = fields(checked);
  const shape = JSON.stringify(all, (key, value: unknown) => (key === "value" ? null : value));
  if (parent.dataset.shape === shape) {
    update(parent, all);
    return;
  }
  parent.dataset.shape = shape;
  const sets = all.map(({ title, fields: own }, set) => {
    const box = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = title;
    box.append(legend);
    for (const field of own) {
      const input = document.createElement("input");
      input.id = `field-${set}-${field.key}`;
      input.defaultValue = String(field.value);
      input.spellcheck = false;
      input.autocomplete = "off";
      input.inputMode = field.isNumber ? "numeric" : "text";
      const label = document.createElement("label");
      label.htmlFor = input.id;
      label.textContent = field.label;
      const note = document.createElement("p");
      note.className = "error";
      note.setAttribute("role", "alert");
      input.onchange = () => {
        const given = input.value.trim();
        const value = field.isNumber && /^\d+$/.test(given) ? given : JSON.stringify(given);
        const changed = setKey(text(), field.place, field.key, value);
        note.textContent = changed === null ? "It is written in another form; edit the text." : "";
        if (changed !== null) onChange(changed);
      };
      const row = document.createElement("div");
      row.append(label, input, note);
      box.append(row);
    }
    return box;
  });
  parent.replaceChildren(...sets);
}
