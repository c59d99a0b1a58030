// Colours of plots, from the style sheet, so that both follow one theme.

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function sideColour(side: number): string {
  return colour(side === 0 ? "a" : "b");
}

/** Colours of flows: one hue for each, far from its neighbours. */
export function flowColour(flow: number): string {
  const hue = (flow * 137.5 + 205) % 360;
  const light = colour("flow-light") || "50%";
  return `hsl(${hue.toFixed(0)} 60% ${light})`;
}
