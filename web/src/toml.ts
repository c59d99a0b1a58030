// Edits of single values in a TOML text that leave everything else unchanged.

/** A table by its header: `[links.a]` is `{ header: "links.a" }`, the second `[[flows]]`
 *  `{ header: "flows", index: 1 }`; the top of the text has an empty header. */
export interface TablePlace {
  header: string;
  index?: number;
}

const HEADER = /^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/;

/** The lines of a table, its header left out: from the first to one past the last. */
function linesOf(lines: string[], place: TablePlace): [number, number] | null {
  let seen = -1;
  let begin = place.header === "" ? 0 : -1;
  for (let i = 0; i < lines.length; i++) {
    const found = HEADER.exec(lines[i] ?? "");
    if (!found) continue;
    if (begin >= 0) return [begin, i];
    const [, brackets, name] = found;
    if (name?.replace(/["'\s]/g, "") !== place.header) continue;
    if ((brackets === "[[") !== (place.index !== undefined)) continue;
    seen += 1;
    if (place.index === undefined || seen === place.index) begin = i + 1;
  }
  return begin >= 0 ? [begin, lines.length] : null;
}

/** The text with a key of a table set to a value, which is written as TOML; null without
 *  such a table under its own header. */
export function setKey(text: string, place: TablePlace, key: string, value: string): string | null {
  const lines = text.split("\n");
  const range = linesOf(lines, place);
  if (!range) return null;
  const pattern = new RegExp(`^(\\s*${key}\\s*=\\s*)("(?:[^"\\\\]|\\\\.)*"|'[^']*'|[^#\\s]+)(.*)$`);
  for (let i = range[0]; i < range[1]; i++) {
    const found = pattern.exec(lines[i] ?? "");
    if (!found) continue;
    lines[i] = `${found[1]}${value}${found[3]}`;
    return lines.join("\n");
  }
  let last = range[1];
  while (last > range[0] && /^\s*(#.*)?$/.test(lines[last - 1] ?? "")) last -= 1;
  lines.splice(last, 0, `${key} = ${value}`);
  return lines.join("\n");
}
