// The scenario's text, with the parser's own errors at their lines.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { classHighlighter } from "@lezer/highlight";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import type { Refusal } from "./protocol";

export class Editor {
  private readonly view: EditorView;
  private isSetting = false;

  constructor(parent: HTMLElement, text: string, onChange: (text: string) => void) {
    const changed = EditorView.updateListener.of((update) => {
      if (update.docChanged && !this.isSetting) onChange(update.state.doc.toString());
    });
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          lintGutter(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          StreamLanguage.define(toml),
          syntaxHighlighting(classHighlighter),
          EditorView.contentAttributes.of({ "aria-label": "Scenario as TOML" }),
          changed,
        ],
      }),
    });
    this.view.scrollDOM.tabIndex = 0;
  }

  set text(text: string) {
    const { doc } = this.view.state;
    if (doc.toString() === text) return;
    this.isSetting = true;
    this.view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    this.isSetting = false;
  }

  /** Shows an error at its line, or none. */
  set error(refusal: Refusal | null) {
    const { doc } = this.view.state;
    const line = refusal?.line ? doc.line(Math.min(refusal.line, doc.lines)) : null;
    const message = refusal ? `${refusal.place}: ${refusal.message}` : "";
    const found = line
      ? [{ from: line.from, to: line.to, severity: "error" as const, message }]
      : [];
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }
}
