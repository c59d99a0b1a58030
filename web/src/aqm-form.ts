// An AQM as a form, made from the registry: kind, dialect, every parameter.

import { type AqmText, parse, write } from "./aqm-text";
import { element, withCode } from "./dom";
import type { Aqm, Catalogue, Param } from "./protocol";

/** A number with its unit: `15ms` is 15 and `ms`; null for other words. */
function quantity(text: string): [number, string] | null {
  const found = /^([\d.]+(?:e[-+]?\d+)?)([a-zA-Zµ%]*)$/.exec(text);
  return found ? [Number(found[1]), found[2] ?? ""] : null;
}

export class AqmForm {
  private readonly body = element("div", { className: "params" });
  private readonly text: HTMLInputElement;
  private readonly kinds: HTMLSelectElement;
  private readonly dialects: HTMLSelectElement;
  private readonly doc = element("p", { className: "doc" });
  private readonly error: HTMLParagraphElement;
  private aqm: AqmText;
  /** Kind and dialect of the parameters below, and the element that shows each value. */
  private shape = "";
  private values: (() => void)[] = [];

  constructor(
    parent: HTMLElement,
    private readonly catalogue: Catalogue,
    private readonly side: string,
    text: string,
    private readonly onChange: (text: string) => void,
  ) {
    this.aqm = parse(text);
    const names = catalogue.aqms.map((aqm) =>
      element("option", { value: aqm.name, textContent: aqm.name }),
    );
    this.kinds = element("select", { id: `kind-${side}` }, ...names);
    this.dialects = element("select", { id: `dialect-${side}` });
    this.text = element("input", { id: `text-${side}`, spellcheck: false, autocomplete: "off" });
    this.error = element("p", { className: "error", id: `error-${side}` });
    this.error.setAttribute("role", "alert");
    this.text.setAttribute("aria-describedby", this.error.id);
    const label = (of: string, text: string): HTMLLabelElement =>
      element("label", { htmlFor: of, textContent: text });
    parent.append(
      element(
        "div",
        { className: "row" },
        element("div", {}, label(this.kinds.id, "AQM"), this.kinds),
        element("div", {}, label(this.dialects.id, "Dialect"), this.dialects),
        element("div", { className: "wide" }, label(this.text.id, "As text"), this.text),
      ),
      this.doc,
      this.error,
      element("details", {}, element("summary", { textContent: "Parameters" }), this.body),
    );
    this.kinds.onchange = () =>
      this.set({ kind: this.kinds.value, dialect: null, settings: new Map() });
    this.dialects.onchange = () => this.set({ ...this.aqm, dialect: this.dialects.value });
    this.text.onchange = () => this.set(parse(this.text.value));
    this.show();
  }

  set value(text: string) {
    this.aqm = parse(text);
    this.show();
  }

  set refusal(message: string) {
    this.error.replaceChildren(...withCode(message));
    this.text.setAttribute("aria-invalid", String(message !== ""));
  }

  private set(aqm: AqmText): void {
    this.aqm = aqm;
    this.show();
    this.onChange(write(aqm));
  }

  private get info(): Aqm | undefined {
    return this.catalogue.aqms.find((aqm) => aqm.name === this.aqm.kind);
  }

  private show(): void {
    const { info } = this;
    this.text.value = write(this.aqm);
    this.kinds.value = info?.name ?? "";
    this.doc.textContent = info?.doc ?? "An AQM in its text form.";
    const dialects = info?.dialects ?? [];
    this.dialects.replaceChildren(
      ...dialects.map((d) =>
        element("option", { value: d.name, textContent: d.name, title: d.doc }),
      ),
    );
    const dialect = this.aqm.dialect ?? dialects[0]?.name ?? "";
    this.dialects.value = dialect;
    this.showParams(info?.params ?? [], dialect);
  }

  /** Fields of the same parameters are kept, so that the keyboard focus stays. */
  private showParams(all: Param[], dialect: string): void {
    const shape = `${this.aqm.kind}@${dialect}`;
    if (shape !== this.shape) {
      this.shape = shape;
      this.values = [];
      // The limit is the buffer of the line, which the scenario has.
      const params = all.filter((param) => param.name !== "limit");
      this.body.replaceChildren(...params.map((param) => this.param(param, dialect)));
    }
    for (const show of this.values) show();
  }

  private param(param: Param, dialect: string): HTMLElement {
    const fallback = param.defaults[dialect] ?? "";
    const value = (): string => this.aqm.settings.get(param.name) ?? fallback;
    const id = `${this.side}-${param.name}`;
    const source = param.sources[dialect] ?? "";
    const title = `${param.doc} ${param.rule}. Default ${fallback}: ${source}`;
    const given = (text: string): void => {
      const settings = new Map(this.aqm.settings);
      if (text === "" || text === fallback) settings.delete(param.name);
      else settings.set(param.name, text);
      this.set({ ...this.aqm, settings });
    };
    const idle = param.without_effect.includes(dialect) ? " (no effect in this dialect)" : "";
    const label = element(
      "label",
      { htmlFor: id, title },
      element("code", { textContent: param.name }),
      idle,
    );
    const hint = element("p", {
      className: "hint",
      id: `${id}-hint`,
      textContent: `${param.doc} Default ${fallback} (${param.sources[dialect] ?? ""}).`,
    });
    const words =
      param.kind === "word" ? param.words : param.kind === "bool" ? ["true", "false"] : [];
    let input: HTMLInputElement | HTMLSelectElement;
    if (words.length > 0) {
      const all = param.absent ? [...words, param.absent] : words;
      input = element(
        "select",
        { id, title },
        ...all.map((word) => element("option", { value: word, textContent: word })),
      );
    } else {
      input = element("input", { id, title, spellcheck: false, autocomplete: "off" });
    }
    this.values.push(() => (input.value = value()));
    input.setAttribute("aria-describedby", hint.id);
    input.onchange = () => given(input.value.trim());
    const row = element("div", { className: "param" }, label, input);
    const slider = words.length === 0 ? this.slider(param, fallback, value, given) : null;
    if (slider) row.append(slider);
    row.append(hint);
    return row;
  }

  /** From a tenth of the default to ten times the default, on a logarithmic scale. */
  private slider(
    param: Param,
    fallback: string,
    value: () => string,
    given: (text: string) => void,
  ): HTMLInputElement | null {
    const base = quantity(fallback);
    if (!base || base[0] <= 0 || param.kind === "limit") return null;
    const slider = element("input", { type: "range", min: "-1", max: "1", step: "0.05" });
    this.values.push(() => {
      const now = quantity(value());
      const same = now && now[1] === base[1] && now[0] > 0;
      slider.value = String(same ? Math.log10(now[0] / base[0]) : 0);
    });
    slider.setAttribute("aria-label", `${param.name}, from a tenth of the default to ten times`);
    const text = (): string => {
      const factor = base[0] * 10 ** Number(slider.value);
      const rounded =
        param.kind === "whole number" || param.kind === "bytes"
          ? Math.max(1, Math.round(factor))
          : Number(factor.toPrecision(3));
      return `${rounded}${base[1]}`;
    };
    slider.oninput = () => slider.setAttribute("aria-valuetext", text());
    slider.onchange = () => given(text());
    return slider;
  }
}
