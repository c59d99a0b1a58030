// What can be taken away from the page.

import type { Lab } from "./lab";

export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The samples of both sides: time, side, AQM, then every variable of either; flows have theirs. */
export function csv(lab: Lab): string {
  const names = [...new Set(lab.sides.flatMap((side) => [...side.columns.keys()]))];
  const quoted = (text: string): string => `"${text.replace(/"/g, '""')}"`;
  const rows = [["t_s", "side", "aqm", ...names].join(",")];
  lab.sides.forEach((side, i) => {
    side.times.forEach((t, row) => {
      const values = names.map((name) => side.columns.get(name)?.[row] ?? "");
      rows.push([t, "AB"[i], quoted(lab.state.aqms[i] ?? ""), ...values].join(","));
    });
  });
  return `${rows.join("\n")}\n`;
}

function forShell(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}

/** The command that repeats both runs natively, from the exported scenario. */
export function command(lab: Lab): string {
  const { aqms, seed, changes } = lab.state;
  const name = lab.checked?.name ?? "scenario";
  const link = lab.checked?.watched ?? "bottleneck";
  const runs = aqms.map((aqm) => `sojourn run ${name}.toml --set ${forShell(`links.${link}.queue="${aqm}"`)} --set seed=${seed}`);
  const note = changes.length > 0 ? "\n# Changes in mid-run are the page's alone: its address holds them." : "";
  return `${runs.join("\n")}${note}`;
}
