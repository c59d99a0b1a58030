// Embedded content of a single-file page: gzip as base64.

/** The content of a packed text. */
export function unpacked(base64: string): Response {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}
