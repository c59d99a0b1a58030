// Starts the worker, and with it the fetching of the simulator, while the browser still reads the
// page's own script, which is large.

declare global {
  /** The worker for the first client; none where it has been taken or could not be started. */
  var earlyWorker: Worker | undefined;
}

export {};

if (typeof Worker !== "undefined") {
  globalThis.earlyWorker = new Worker("worker.js", { type: "module" });
  globalThis.earlyWorker.onerror = () => (globalThis.earlyWorker = undefined); // the next one tells
}
