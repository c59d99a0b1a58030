// Files and texts that the user drops, pastes or chooses.

import { Refused } from "./client";

const LARGEST_FILE_BYTES = 64e6;
/** Length of the beginning of a file by which a trace is recognised. */
const LOOKED_AT = 2000;

/** The receivers of each kind. */
export interface Receiver {
  scenario(text: string): Promise<void>;
  trace(name: string, text: string): Promise<void>;
  /** Rejects if the text lacks a set-up. */
  setup(text: string): Promise<void>;
  refuse(sentence: string): void;
}

function isTrace(text: string): boolean {
  const whole = text.slice(0, LOOKED_AT).replace(/\n?\d*$/, "");
  return /^\s*\d+\s*(\n\s*\d+\s*)*$/.test(whole);
}

/** Whether a text is a scenario, whatever its name. */
function isScenario(text: string): boolean {
  return /^\s*\[\[?(links|flows)\b/m.test(text);
}

async function take(name: string, text: string, to: Receiver): Promise<void> {
  if (name.endsWith(".toml") || isScenario(text)) await to.scenario(text);
  else if (isTrace(text)) await to.trace(name, text);
  else {
    try {
      await to.setup(text);
    } catch (failure) {
      const { message } = failure as Error;
      to.refuse(
        failure instanceof Refused && failure.refusal.place !== ""
          ? message
          : `${name} is neither a scenario (.toml) nor a Mahimahi trace (one millisecond a ` +
              `line). As output of tc: ${message}`,
      );
    }
  }
}

async function takeFile(file: File, to: Receiver): Promise<void> {
  if (file.size > LARGEST_FILE_BYTES) {
    to.refuse(
      `${file.name} has ${(file.size / 1e6).toFixed(0)} MB; ` +
        `the page takes ${LARGEST_FILE_BYTES / 1e6} MB, the command more`,
    );
    return;
  }
  await take(file.name, await file.text(), to);
}

/** Listens for files that are dropped or chosen, and for texts that are pasted outside fields. */
export function receive(chooser: HTMLInputElement, to: Receiver): void {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void takeFile(file, to);
  });
  document.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const field = (event.target as HTMLElement).closest("input, textarea, .cm-editor");
    if (!field && text !== "") void take("the pasted text", text, to);
  });
  chooser.onchange = () => {
    const file = chooser.files?.[0];
    if (file) void takeFile(file, to);
  };
  // The same file, edited meanwhile, can be chosen again.
  chooser.onclick = () => (chooser.value = "");
}
