// The text form of an AQM: `kind@dialect:name=value,...`.

export interface AqmText {
  kind: string;
  dialect: string | null;
  settings: Map<string, string>;
}

export function parse(text: string): AqmText {
  const [head = "", ...rest] = text.trim().split(":");
  const settings = new Map<string, string>();
  for (const part of rest.join(":").split(",")) {
    const [name, ...value] = part.split("=");
    if (name?.trim()) settings.set(name.trim(), value.join("=").trim());
  }
  // In fq(pie@linux) the dialect is inside.
  const inner = /^(\w+)\((\w+)@([\w.-]+)\)$/.exec(head);
  if (inner) return { kind: `${inner[1]}(${inner[2]})`, dialect: inner[3] ?? null, settings };
  const [kind = "", dialect] = head.split("@");
  return { kind: kind.trim(), dialect: dialect?.trim() ?? null, settings };
}

export function write(aqm: AqmText): string {
  const inner = /^(\w+)\((\w+)\)$/.exec(aqm.kind);
  let head = aqm.kind;
  if (aqm.dialect)
    head = inner ? `${inner[1]}(${inner[2]}@${aqm.dialect})` : `${head}@${aqm.dialect}`;
  const settings = [...aqm.settings].map(([name, value]) => `${name}=${value}`);
  return settings.length > 0 ? `${head}:${settings.join(",")}` : head;
}
