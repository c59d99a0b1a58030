// The choice of a version in the sidebar, where docs/site/versions.py has put several next to this
// one. It opens the same page of the other version, or its first page.
(async () => {
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  const all = new URL("../", root);
  const listed = await fetch(new URL("versions.json", all)).catch(() => null);
  if (!listed?.ok) return;
  const here = decodeURIComponent(root.pathname.split("/").at(-2));
  const page = location.href.split("#")[0].slice(root.href.length);
  const choice = document.createElement("select");
  for (const version of await listed.json()) {
    choice.add(new Option(version, version, version === here, version === here));
  }
  choice.addEventListener("change", async () => {
    const folder = new URL(`${encodeURIComponent(choice.value)}/`, all);
    const same = new URL(page, folder);
    const answer = await fetch(same, { method: "HEAD" }).catch(() => null);
    location.href = answer?.ok ? same : folder;
  });
  const label = document.createElement("label");
  label.className = "versions";
  label.append("Version ", choice);
  document.querySelector(".sidebar-brand")?.after(label);
})();
