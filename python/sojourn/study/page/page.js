// The page of a study: figures with one selection, and details of each point.

const held = (id) => JSON.parse(document.getElementById(id).textContent);
const data = held("data");
const points = held("points");
const specs = held("specs");
const { link: LINK } = held("facts");
const dark = matchMedia("(prefers-color-scheme: dark)");
const choice = document.getElementById("choice");
const views = new Map();
// Least and largest width of a panel, and the gap between two.
const [PANEL, WIDEST, GAP] = [150, 420, 26];
// SVG is sharp at any size and on paper; a canvas draws more.
const RENDERER = data.points.length <= 1000 ? "svg" : "canvas";
let chosen = -1;
let drawnWidth = 0;

function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The style of all figures, after the page's own colours. */
function style() {
  const [ink, grid] = [colour("ink"), colour("grid")];
  return {
    background: null,
    font: "system-ui, sans-serif",
    axis: {
      labelColor: ink,
      titleColor: ink,
      gridColor: grid,
      domainColor: grid,
      tickColor: grid,
      labelFontSize: 11,
      titleFontSize: 12,
      titleFontWeight: "normal",
    },
    header: { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12 },
    legend: {
      labelColor: ink,
      titleColor: ink,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: "normal",
    },
    view: { stroke: grid },
  };
}

async function embed(place, spec) {
  const box = document.getElementById(place);
  const whole = (box.closest(".figures") ?? box.parentElement).clientWidth;
  // Predictions and observations are side by side if there is room.
  const width = place.startsWith("stability") && whole > 700 ? whole / 2 - 14 : whole;
  const made = structuredClone(spec);
  delete made.config;
  if ("columns" in made) {
    // Room for the scale on the left, then for each panel and the gap to its right.
    const room = width - 90;
    const fitting = Math.max(1, Math.min(made.columns, Math.floor(room / (PANEL + GAP))));
    made.columns = Math.ceil(made.columns / Math.ceil(made.columns / fitting));
    made.spec.width = Math.min(WIDEST, Math.floor(room / made.columns) - GAP);
    for (const layer of made.spec.layer ?? []) delete layer.width;
  } else {
    box.classList.add("wide");
    box.parentElement.classList.add("fills");
  }
  for (const each of made.params ?? []) {
    if (each.name === "ink") each.value = colour("ink");
    if (each.name === "chosen") each.value = chosen;
    if (each.name === "legendColumns") each.value = Math.max(1, Math.floor(width / 110));
    const fixed = document.getElementById(each.name);
    if (fixed?.matches(".fixed")) each.value = fixed.value;
  }
  if (made.params) made.datasets = { ...made.datasets, ...data };
  // Expressions are interpreted: the page's policy forbids compiling strings.
  const options = { actions: false, ast: true, config: style(), renderer: RENDERER };
  const result = await vegaEmbed(box, made, options);
  views.get(place)?.finalize();
  views.set(place, result.view);
  // Scrollable elements can be reached by keyboard.
  box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
  result.view.addEventListener("click", (event, item) => {
    const point = item?.datum?.point ?? item?.datum?.[0]?.point;
    if (point !== undefined) choose(point === chosen ? -1 : point);
  });
}

/** Buttons that save a figure as it is drawn. */
function exports(place, title) {
  const bar = element("p");
  bar.className = "save";
  for (const [kind, type] of [
    ["SVG", "image/svg+xml"],
    ["PNG", "image/png"],
  ]) {
    const button = element("button", kind);
    button.type = "button";
    button.setAttribute("aria-label", `Save ${title} as ${kind}`);
    button.addEventListener("click", async () => {
      const view = views.get(place);
      if (!view) return;
      const content = kind === "SVG" ? await view.toSVG() : await picture(view);
      const link = element("a");
      link.href = URL.createObjectURL(new Blob([content], { type }));
      link.download = `${place}.${kind.toLowerCase()}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    bar.append(button);
  }
  return bar;
}

/** A figure as PNG at twice the screen's resolution, on the page's background colour. */
async function picture(view) {
  const drawn = await view.toCanvas(2);
  const canvas = element("canvas");
  [canvas.width, canvas.height] = [drawn.width, drawn.height];
  const context = canvas.getContext("2d");
  context.fillStyle = colour("paper");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(drawn, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

async function draw() {
  drawnWidth = document.getElementById("figures").clientWidth;
  for (const [place, spec] of Object.entries(specs)) await embed(place, spec);
  await show();
  document.body.dataset.drawn = drawnWidth;
}

async function choose(point) {
  chosen = point;
  choice.value = String(point);
  // Axes of which maps and curves show one value take the selected point's value.
  const row = data.points.find((each) => each.point === point);
  for (const each of document.querySelectorAll(".fixed")) {
    if (row) each.value = row[each.dataset.column];
    fix(each);
  }
  for (const [place, view] of views) if (place in specs) view.signal("chosen", point).runAsync();
  history.replaceState(null, "", point < 0 ? "#" : `#point=${point}`);
  await show();
  document.body.dataset.shown = point;
}

/** Sets the shown value of an axis of which maps and curves show one value. */
function fix(select) {
  for (const [place, view] of views)
    if (place in specs) view.signal(select.id, select.value).runAsync();
}

/** The numbers, time series, scenario and command of the point that is selected. */
async function show() {
  const box = document.getElementById("point");
  const point = points[chosen];
  box.replaceChildren();
  if (!point) {
    box.append(element("p", "Click a cell, dot or line in a figure, or choose one here."));
    return;
  }
  const table = element("table");
  for (const [metric, mean, interval] of point.numbers) {
    const row = table.insertRow();
    row.append(element("th", metric), element("td", mean), element("td", interval));
  }
  const seeds = `${point.seeds} seed${point.seeds === 1 ? "" : "s"}`;
  box.append(element("p", `${seeds}; estimates with 95 % intervals`), table);
  if (point.series) {
    const drawn = element("div");
    drawn.id = "series";
    drawn.className = "figure wide";
    box.append(drawn);
    await embed("series", seriesSpec(point.series));
    if (!drawn.isConnected) return; // another point was chosen meanwhile
  } else {
    box.append(
      element("p", "This page was made without its time series; the command below records it."),
    );
  }
  for (const [title, text] of [
    ["Scenario", point.scenario],
    ["Command that records it", point.command],
  ]) {
    const details = element("details");
    details.append(element("summary", title), element("pre", text));
    box.append(details);
  }
}

function seriesSpec(series) {
  const values = series.delay_ms.map((delay, i) => ({
    t: i * series.step_s,
    delay,
    rate: series.rate_mbps[i],
  }));
  const panel = (field, title) => ({
    width: "container",
    height: 120,
    mark: { type: "line", strokeWidth: 1.2, color: colour("accent") },
    encoding: {
      x: { field: "t", type: "quantitative", title: "time (s), seed 1" },
      y: { field, type: "quantitative", title },
    },
  });
  return {
    $schema: Object.values(specs)[0].$schema,
    data: { values },
    // Two panels as wide as the box: width `container` does not apply inside a concatenation.
    vconcat: [panel("delay", `delay of ${LINK} (ms)`), panel("rate", "rate (Mbit/s)")].map(
      (each) => ({
        ...each,
        width: Math.max(180, document.getElementById("point").clientWidth - 70),
      }),
    ),
  };
}

for (const place of Object.keys(specs)) {
  const box = document.getElementById(place);
  box.after(exports(place, box.getAttribute("aria-label")));
}
for (const [index, point] of Object.entries(points)) {
  const option = element("option", `${index}: ${point.label}`);
  option.value = index;
  choice.append(option);
}
choice.addEventListener("change", () => choose(Number(choice.value)));
for (const each of document.querySelectorAll(".fixed")) {
  each.addEventListener("change", () => fix(each));
}
let waiting;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (document.getElementById("figures").clientWidth !== drawnWidth) draw();
  }, 200);
});
dark.addEventListener("change", draw);
draw().then(() => {
  const named = /^#point=(\d+)$/.exec(location.hash);
  if (named && points[named[1]]) choose(Number(named[1]));
});
