// The page: controls, both AQMs, plots, queues, scenario, results.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { AqmForm } from "./aqm-form";
import { Client, Refused } from "./client";
import { by, foldOnNarrow, withCode } from "./dom";
import { Editor } from "./editor";
import { explanation, sentence } from "./explain";
import { command, csv, parquet, save, svg } from "./exports";
import type { History, Reason } from "./history";
import { receive } from "./incoming";
import { Lab } from "./lab";
import { showLinks } from "./link-field";
import { Views } from "./views";
import { Plane } from "./plane";
import { PresetField } from "./preset-field";
import { PRESETS } from "./presets";
import type { Catalogue, Checked, Setup } from "./protocol";
import { Results } from "./results";
import { showForm } from "./scenario-form";
import { SetupPanel, withoutLimit } from "./setup";
import { type PageState, decode, encode } from "./url-state";

const SEEMS_LONG_PACKETS = 2e7;

function begin(): PageState {
  const preset = PRESETS[0];
  return {
    text: preset?.text ?? "",
    aqms: ["taildrop", "codel"],
    seed: "1",
    speed: "5",
    changes: [],
  };
}

function say(text: string, kind: "note" | "error" = "note"): void {
  const box = by("message");
  box.replaceChildren(...withCode(text));
  box.className = kind;
}

class Page {
  private forms: AqmForm[] = [];
  private readonly editor: Editor;
  private readonly views: Views;
  private readonly results = new Results(by("results"));
  private readonly plane: Plane;
  private isDrawing = false;
  private checks = 0;
  /** Resolves when the last edit of the text has been applied. */
  private settled: Promise<void> = Promise.resolve();
  private remembered = 0;
  private readonly presets = new PresetField((text) => this.taken(text));

  constructor(private readonly lab: Lab) {
    this.editor = new Editor(by("editor"), lab.state.text, (text) => this.edited(text));
    this.presets.show(lab.state.text);
    this.views = new Views(lab, (side, reason) => this.explain(side, reason));
    this.plane = new Plane(lab, by("plane"));
    lab.onUpdate = () => this.draw();
    lab.onFailure = (failure) => this.failed(failure);
    this.controls();
    this.fields();
    this.incoming();
  }

  async start(catalogue: Catalogue): Promise<void> {
    by("version").textContent = catalogue.version;
    this.forms = ["a", "b"].map(
      (side, i) =>
        new AqmForm(
          by(`form-${side}`),
          catalogue,
          side,
          this.lab.state.aqms[i] ?? "",
          (text) => void this.aqmChanged(i, text),
        ),
    );
    by<HTMLSelectElement>("speed").value = this.lab.state.speed;
    by<HTMLInputElement>("seed").value = this.lab.state.seed;
    await this.rewind();
    this.views.flowChoices();
    by("main").removeAttribute("aria-busy");
    requestAnimationFrame(() => performance.mark("first-plots"));
  }

  private rewind(): Promise<void> {
    this.settled = this.openAnew();
    return this.settled;
  }

  private async openAnew(): Promise<void> {
    this.results.clear();
    this.plane.clear();
    this.clearErrors();
    await this.lab.rewind();
    if (this.lab.checked && !this.lab.isRefused) this.accepted(this.lab.checked);
    await this.remember();
  }

  private clearErrors(): void {
    say("");
    this.editor.error = null;
    by("text-error").textContent = "";
    this.forms.forEach((form) => (form.refusal = ""));
  }

  /** A legal scenario: its form, its warnings, and whether it will take long. */
  private accepted(checked: Checked): void {
    const text = (): string => this.lab.state.text;
    showForm(by("scenario-form"), checked, text, (changed) => this.taken(changed));
    const long =
      checked.packets_estimated > SEEMS_LONG_PACKETS
        ? `About ${(checked.packets_estimated / 1e6).toFixed(0)} million packets for each AQM: ` +
          "this takes minutes; Pause stops it at any time. "
        : "";
    if (long || checked.warnings.length > 0) say(long + checked.warnings.join(" "));
    by("scenario-name").textContent = checked.name;
    showLinks(checked);
  }

  private failed(failure: Error): void {
    if (!(failure instanceof Refused)) {
      say(failure.message, "error");
      return;
    }
    const { refusal } = failure;
    const place = /queue/.test(refusal.place) && refusal.line === null;
    if (refusal.line !== null) this.editor.error = refusal;
    by("text-error").replaceChildren(...withCode(place ? "" : failure.message));
    say(failure.message, "error");
  }

  /** A text that was not typed into the editor. */
  private taken(text: string): void {
    this.editor.text = text;
    this.edited(text);
  }

  private edited(text: string): void {
    this.settled = this.textChanged(text);
  }

  /** The text was edited: check it at once, and restart the run if it is legal. */
  private async textChanged(text: string): Promise<void> {
    this.lab.state.text = text;
    this.presets.show(text);
    if (!text.includes(`[links.${this.lab.state.link ?? ""}]`)) delete this.lab.state.link;
    this.lab.forget();
    const number = (this.checks += 1);
    await new Promise((resolve) => setTimeout(resolve, 250));
    if (number !== this.checks) return;
    await this.rewind();
    this.views.flowChoices();
  }

  /** At time zero the run starts with the new AQM; later the AQM is applied at once. */
  private async aqmChanged(side: number, text: string): Promise<void> {
    const form = this.forms[side];
    try {
      await this.lab.client.ask<Checked>({ call: "check", ...this.lab.setting(side), aqm: text });
    } catch (failure) {
      if (form && failure instanceof Refused) form.refusal = failure.refusal.message;
      return;
    }
    if (form) form.refusal = "";
    await this.settled;
    if (this.lab.now > 0 && !this.lab.isOver) {
      await this.lab.change(side, text);
      say(
        `Side ${"AB"[side] ?? ""} runs ${text} from ${this.lab.now.toFixed(3)} s on. ` +
          "Rewind replays the change; Forget changes starts with it.",
      );
    } else {
      this.lab.state.aqms[side] = text;
      await this.rewind();
    }
    await this.remember();
  }

  private controls(): void {
    by("run").onclick = () => (this.lab.isRunning ? this.lab.pause() : void this.runAnew());
    by("step").onclick = () => void this.lab.stepPacket();
    by("rewind").onclick = () => void this.rewind();
    by("forget").onclick = () => {
      this.lab.forget();
      this.forms.forEach((form, i) => (form.value = this.lab.state.aqms[i] ?? ""));
      void this.rewind();
    };
    by("theme").onclick = () => {
      const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
      document.documentElement.dataset.theme = dark ? "light" : "dark";
      this.views.restyle();
      this.plane.restyle();
    };
    by("export-scenario").onclick = () =>
      save(`${this.lab.checked?.name ?? "scenario"}.toml`, this.lab.state.text);
    by("export-csv").onclick = () => save("samples.csv", csv(this.lab), "text/csv");
    by("export-parquet").onclick = () => save("samples.parquet", parquet(this.lab));
    by("export-png").onclick = () =>
      void this.views.delayPng().then((blob) => blob && save("queue-delay.png", blob));
    by("export-svg").onclick = () => {
      const picture = this.views.delayPicture;
      if (picture) save("queue-delay.svg", svg(picture, this.lab.duration), "image/svg+xml");
    };
    by("copy-link").onclick = () => void this.copy(location.href, "The address was copied.");
    by("copy-command").onclick = () =>
      void this.copy(by("command").textContent ?? "", "The command was copied.");
    document.addEventListener("keydown", (event) => this.key(event));
  }

  private async runAnew(): Promise<void> {
    await this.settled;
    if (this.lab.isOver) await this.rewind();
    this.lab.run();
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (
      target.closest("input, select, textarea, button, summary, a, .cm-editor") ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    const keys: Record<string, string> = { " ": "run", ".": "step", "0": "rewind" };
    const id = keys[event.key];
    if (!id) return;
    event.preventDefault();
    by(id).click();
  }

  private async copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      say(done);
    } catch {
      say(`The browser refused; copy it by hand: ${text}`);
    }
  }

  private fields(): void {
    by<HTMLSelectElement>("speed").onchange = (event) => {
      this.lab.state.speed = (event.target as HTMLSelectElement).value;
      void this.remember();
    };
    by<HTMLSelectElement>("link").onchange = (event) => {
      this.lab.state.link = (event.target as HTMLSelectElement).value;
      this.lab.forget();
      void this.rewind().then(() => this.views.flowChoices());
    };
    by<HTMLInputElement>("seed").onchange = (event) => {
      this.lab.state.seed = (event.target as HTMLInputElement).value.trim();
      void this.rewind();
    };
  }

  /** Content that is dropped on the page, pasted, or chosen with the file button. */
  private incoming(): void {
    const setup = new SetupPanel(this.lab.client, {
      queue: (queue) => this.takeQueue(queue),
      scenario: (text, queue) => {
        if (queue) this.setAqm(0, queue.aqm);
        this.taken(text);
      },
      say,
    });
    receive(by("file"), {
      scenario: (text) => {
        this.taken(text);
        return this.settled;
      },
      trace: (name, text) => this.takeTrace(name, text),
      setup: (text) => setup.open(text),
      refuse: (sentence) => say(sentence, "error"),
    });
  }

  /** Side A runs the AQM of a machine. */
  private async takeQueue({ kind, device, aqm }: NonNullable<Setup["queue"]>): Promise<void> {
    const { watched = "", document } = this.lab.checked ?? {};
    const hasBuffer = Boolean(document?.links[watched]?.buffer);
    const taken = hasBuffer ? withoutLimit(aqm) : aqm;
    try {
      await this.lab.client.ask<Checked>({ call: "check", ...this.lab.setting(0), aqm: taken });
    } catch (failure) {
      say((failure as Error).message, "error");
      return;
    }
    this.setAqm(0, taken);
    await this.rewind();
    const limit =
      taken === aqm
        ? ""
        : " Its limit is left out, as the line has a buffer: delete `buffer` and read it again.";
    say(`Side A runs ${kind}${device ? ` of ${device}` : ""} as in the text.${limit}`);
  }

  private setAqm(side: number, aqm: string): void {
    this.lab.state.aqms[side] = aqm;
    const form = this.forms[side];
    if (form) form.value = aqm;
  }

  /** A trace is available under its own name and under every name in the scenario. */
  private async takeTrace(name: string, text: string): Promise<void> {
    const asked = [...this.lab.state.text.matchAll(/file\s*=\s*"([^"]+)"/g)].map(
      (found) => found[1] ?? "",
    );
    for (const one of [name, ...asked]) this.lab.files[one] = text;
    await this.rewind();
    if (asked.length === 0) {
      say(
        `${name} is a trace, but no link of this scenario asks for one; ` +
          `write rate = { kind = "trace", file = "${name}" } for the link that it is of`,
        "error",
      );
    }
  }

  private explain(side: number, reason: Reason): void {
    const history = this.lab.sides[side];
    if (!history) return;
    by("why").replaceChildren(explanation(history, reason));
    by("why-section").scrollIntoView({ block: "nearest" });
  }

  private draw(): void {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      this.show();
    });
  }

  private show(): void {
    const { lab } = this;
    by("run").textContent = lab.isRunning ? "Pause" : lab.isOver ? "Run again" : "Run";
    by("clock").textContent = lab.clock;
    by<HTMLProgressElement>("progress").value = lab.duration > 0 ? lab.now / lab.duration : 0;
    by<HTMLButtonElement>("run").disabled = lab.isRefused;
    by<HTMLButtonElement>("step").disabled = lab.isRefused || lab.isOver;
    by<HTMLButtonElement>("forget").disabled = lab.state.changes.length === 0;
    by("command").textContent = command(lab);
    this.views.show();
    lab.sides.forEach((side, i) => this.counts(side, i));
    if (lab.isOver) this.results.show(lab);
    if (!lab.isRunning) this.signals();
  }

  private counts(side: History, i: number): void {
    const text = `${side.drops} dropped, ${side.marks} marked`;
    const box = by(`counts-${"ab"[i] ?? ""}`);
    if (box.textContent !== text) box.textContent = text;
  }

  /** The last drops and marks as buttons, for the keyboard. */
  private signals(): void {
    const rows = this.lab.sides.flatMap((history, side) =>
      history.signals.slice(-8).map((reason) => ({ history, side, reason })),
    );
    const items = rows.map(({ history, side, reason }) => {
      const button = document.createElement("button");
      button.textContent = `${"AB"[side] ?? ""}: ${sentence(history, reason).split(":")[0] ?? ""}`;
      button.onclick = () => this.explain(side, reason);
      const item = document.createElement("li");
      item.append(button);
      return item;
    });
    by("signals").replaceChildren(...items);
  }

  private async remember(): Promise<void> {
    // Encoding takes time; of several calls only the last may write the address.
    const turn = ++this.remembered;
    const state = await encode(this.lab.state);
    if (turn === this.remembered) history.replaceState(null, "", `#${state}`);
  }
}

async function main(): Promise<void> {
  foldOnNarrow();
  const needed = {
    WebAssembly: typeof WebAssembly,
    "web workers": typeof Worker,
    "compression streams": typeof CompressionStream,
  };
  const missing = Object.entries(needed).find(([, kind]) => kind === "undefined")?.[0];
  if (missing) {
    say(`This browser has no ${missing}; a current Firefox, Chromium or Safari has.`, "error");
    return;
  }
  const client = new Client();
  let state: PageState | null = null;
  let complaint = "";
  try {
    state = await decode(location.hash || savedState());
  } catch (failure) {
    complaint = (failure as Error).message;
  }
  try {
    const catalogue = client.ask<Catalogue>({ call: "catalogue" });
    const page = new Page(new Lab(client, state ?? begin()));
    await page.start(await catalogue);
    if (complaint) say(complaint, "error");
  } catch (failure) {
    say((failure as Error).message, "error");
  }
}

/** The state that `sojourn live FILE --save` wrote into the page. */
function savedState(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="sojourn-state"]')?.content ?? "";
}
void main();
