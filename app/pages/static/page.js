// What a browser adds to pages that work without it: live progress, dropped files, parts of a page
// that change in place.
"use strict";

// progress: the page is loaded again when there is an outcome
for (const live of document.querySelectorAll("[data-events]")) {
  const source = new EventSource(live.dataset.events);
  const told = (event) => {
    const { phase, done, total } = JSON.parse(event.data).progress;
    const bar = document.getElementById("progress");
    bar.max = total || 1;
    bar.value = done;
    const words = { statistics: "Measuring the outputs", resampling: "Drawing resamples", report: "Writing the report" };
    const counted = (n) => n.toLocaleString("en");
    document.getElementById("phase").textContent = `${words[phase] ?? phase}: ${counted(done)} of ${counted(total)}.`;
  };
  source.addEventListener("progress", told);
  source.addEventListener("finished", () => { source.close(); location.reload(); });
}

// forms that cannot be undone ask first
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!confirm(form.dataset.confirm)) event.preventDefault();
  });
}

// a drop zone fills its file input, folders with their paths
const drop = document.getElementById("drop");
if (drop) {
  const input = drop.querySelector("input[type=file]");
  const list = document.getElementById("given");
  const form = drop.closest("form");
  let round = 0;

  const walk = async (entry, path, found) => {
    if (entry.isFile) {
      const file = await new Promise((good, bad) => entry.file(good, bad));
      if (!file.name.startsWith(".")) found.push(new File([file], path + file.name, { type: file.type }));
    } else if (entry.isDirectory) {
      const reader = entry.createReader();
      let some;
      do {
        some = await new Promise((good, bad) => reader.readEntries(good, bad));
        for (const inner of some) await walk(inner, `${path}${entry.name}/`, found);
      } while (some.length);
    }
  };

  const look = async () => {
    list.hidden = input.files.length === 0;
    list.replaceChildren(...[...input.files].map((file) => {
      const item = document.createElement("li");
      item.textContent = file.name;
      return item;
    }));
    const status = document.getElementById("recognition");
    const mine = ++round;
    status.textContent = input.files.length ? "Reading the files…" : "";
    document.getElementById("recognised")?.remove();
    if (!input.files.length) return;
    const body = new FormData(form);
    body.set("do", "look");
    let found;
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
      found = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      if (mine === round) status.textContent = "The service cannot be reached.";
      return;
    }
    if (mine !== round) return;
    const recognised = found.getElementById("recognised");
    status.textContent = recognised ? "" : found.querySelector(".answer")?.textContent ?? "";
    if (recognised) drop.after(document.importNode(recognised, true));
  };

  for (const kind of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
    });
  }
  drop.addEventListener("drop", async (event) => {
    const found = [];
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (entries.length) for (const entry of entries) await walk(entry, "", found);
    else found.push(...event.dataTransfer.files);
    const held = new DataTransfer();
    for (const file of found) held.items.add(file);
    input.files = held.files;
    look();
  });
  input.addEventListener("change", look);
}

// what is about one pair changes in place; its address is that of the whole page
const pair = () => document.getElementById("pair");
const open = async (address, push) => {
  const panel = pair();
  panel.setAttribute("aria-busy", "true");
  let found;
  try {
    const alone = panel.dataset.panel + new URL(address, location.href).search;
    const answer = await fetch(alone, { headers: { Accept: "text/html" } });
    found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("pair");
  } catch {
    found = null;
  }
  if (!found) {
    location.href = address;
    return;
  }
  panel.replaceWith(document.importNode(found, true));
  if (push) history.pushState(null, "", address);
  const chosen = new URL(address, location.href).searchParams;
  for (const link of document.querySelectorAll("td a")) {
    const own = new URL(link.href).searchParams;
    const current = own.get("a") === chosen.get("a") && own.get("b") === chosen.get("b");
    link.toggleAttribute("aria-current", current);
  }
  if (push) pair().scrollIntoView({ block: "nearest" });
};
if (pair()) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !plain || link.hash !== "#pair" || link.pathname !== location.pathname) return;
    event.preventDefault();
    open(link.href, true);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("#pair form")) return;
    event.preventDefault();
    const fields = [...new FormData(event.target)].filter(([, value]) => value !== "");
    open(`${location.pathname}?${new URLSearchParams(fields)}#pair`, true);
  });
  addEventListener("popstate", () => open(location.href, false));
}
