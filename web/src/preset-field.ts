// The choice of a scenario to start from; it shows the present one.

import { by } from "./dom";
import { PRESETS } from "./presets";

const GROUPS = [
  ["line", "My line"],
  ["scenario", "Shipped scenarios"],
  ["rfc7928", "Scenarios of RFC 7928"],
];

export class PresetField {
  private readonly field = by<HTMLSelectElement>("preset");

  constructor(onChoice: (text: string) => void) {
    const groups = GROUPS.map(([kind, label]) => {
      const group = document.createElement("optgroup");
      group.label = label ?? "";
      const presets = PRESETS.filter((preset) => preset.kind === kind);
      group.append(...presets.map((preset) => new Option(preset.title, preset.name)));
      return group;
    });
    const other = new Option("a scenario of your own", "");
    other.disabled = true;
    this.field.append(other, ...groups);
    this.field.onchange = () => {
      const preset = PRESETS.find((one) => one.name === this.field.value);
      if (preset) onChoice(preset.text);
    };
  }

  /** Shows the preset with this text; an edited one is shown as custom. */
  show(text: string): void {
    const preset = PRESETS.find((one) => one.text === text);
    this.field.value = preset?.name ?? "";
    by("preset-words").textContent = preset?.words ?? "";
  }
}
