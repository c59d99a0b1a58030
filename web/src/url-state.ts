// The whole state of the page as the part of its address after `#`: version, then the state as
// compressed JSON in URL-safe base64. It is never sent to a server.

export interface Change {
  t: number;
  side: number;
  aqm: string;
}

export interface PageState {
  text: string;
  /** The link of both AQMs; without it the slowest of the first flows' path. */
  link?: string;
  aqms: [string, string];
  seed: string;
  speed: string;
  changes: Change[];
}

const VERSION = "1";
/** Maximum length of an address; a browser allows more, e-mail and chat do not. */
const LONGEST = 60_000;

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  via: GenericTransformStream,
): Promise<Uint8Array> {
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(via as ReadableWritablePair<Uint8Array, BufferSource>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function encode(state: PageState): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  const base64 = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  return `${VERSION}.${base64.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")}`;
}

function isState(value: unknown): value is PageState {
  const state = value as PageState;
  const isChange = (c: Change): boolean =>
    typeof c.t === "number" && (c.side === 0 || c.side === 1) && typeof c.aqm === "string";
  return (
    typeof value === "object" &&
    value !== null &&
    typeof state.text === "string" &&
    (state.link === undefined || typeof state.link === "string") &&
    Array.isArray(state.aqms) &&
    state.aqms.length === 2 &&
    state.aqms.every((aqm) => typeof aqm === "string") &&
    typeof state.seed === "string" &&
    typeof state.speed === "string" &&
    Array.isArray(state.changes) &&
    state.changes.every(isChange)
  );
}

/** The state in an address; null without one. Throws an error message for a damaged one. */
export async function decode(hash: string): Promise<PageState | null> {
  const code = hash.replace(/^#/, "");
  if (code === "" || code === "main") return null;
  const [version, packed] = code.split(".");
  const damaged = "the address is damaged, perhaps cut off; the page starts afresh";
  if (packed === undefined || !version) throw new Error(damaged);
  if (version !== VERSION) {
    const theirs = version.slice(0, 8);
    throw new Error(
      `the address is of version ${theirs}, this page reads ${VERSION}; it starts afresh`,
    );
  }
  if (packed.length > LONGEST) throw new Error(damaged);
  let state: unknown;
  try {
    const raw = atob(packed.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
    const text = await through(bytes, new DecompressionStream("deflate-raw"));
    state = JSON.parse(new TextDecoder().decode(text));
  } catch {
    throw new Error(damaged);
  }
  if (!isState(state)) throw new Error(damaged);
  return state;
}
