// Starts the worker, which fetches the simulator, while the browser still parses the page's large
// script.

declare global {
  /** The worker for the first client; null if it has been taken or could not be started. */
  var earlyWorker: Worker | undefined;
}

export {};

if (typeof Worker !== "undefined") {
  globalThis.earlyWorker = new Worker("worker.js", { type: "module" });
  globalThis.earlyWorker.onerror = () => (globalThis.earlyWorker = undefined); // the next one reports
}
