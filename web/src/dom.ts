// Elements of the page.

/** The element with an id, which the page has. */
export function by<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
}

/** A number and its noun: `1 packet`, `2 packets`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A new element with its children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A text whose words in backticks are code. */
export function withCode(text: string): (Node | string)[] {
  const code = (part: string): Node => element("code", { textContent: part });
  const parts = text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? code(part) : part));
  return parts.filter((part) => part !== "");
}

/** On a narrow screen, less important parts are folded. */
export function foldOnNarrow(): void {
  if (!matchMedia("(max-width: 720px)").matches) return;
  document.querySelectorAll<HTMLDetailsElement>(".fold").forEach((one) => (one.open = false));
}
