// What a browser adds to pages that work without it: live progress, dropped files, parts of a page
// that change in place.
"use strict";

// progress: the page is loaded again when there is an outcome
for (const live of document.querySelectorAll("[data-events]")) {
  const source = new EventSource(live.dataset.events);
  const told = (event) => {
    const { status, progress: { phase, done, total } } = JSON.parse(event.data);
    const state = document.getElementById("state");
    if (status === "running" && state.textContent !== state.dataset.running) {
      document.title = document.title.replace(state.textContent, state.dataset.running);
      state.textContent = state.dataset.running;
      live.querySelector(".warning")?.remove();
    }
    const bar = document.getElementById("progress");
    bar.max = total || 1;
    bar.value = done;
    if (status === "queued" && !done) return; // the page says that it waits
    const words = { statistics: "Measuring the outputs", resampling: "Drawing resamples", report: "Writing the report" };
    const counted = (n) => n.toLocaleString("en");
    const said = document.getElementById("phase");
    // what stands in there is read aloud each time: a phase once, and never how much of it is done
    if (said.textContent !== (words[phase] ?? phase)) said.textContent = words[phase] ?? phase;
    document.getElementById("counted").textContent = `: ${counted(done)} of ${counted(total)}.`;
  };
  source.addEventListener("progress", told);
  source.addEventListener("finished", () => { source.close(); location.reload(); });
  // a browser connects again where the line broke, but not where it was turned away
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 3000);
  });
}

// what lacks something looks again until that has changed: a pair changes in its place, a board is loaded
// again, but not while somebody fills in a form
let writing = false;
document.addEventListener("input", () => { writing = true; });
const follow = (within) => {
  for (const lacks of within.querySelectorAll("[data-lacks]")) {
    const look = async () => {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
      const found = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!lacks.isConnected) return; // something else is shown
      const changed = found && found.querySelector("[data-lacks]")?.textContent !== lacks.textContent;
      const made = changed && found.getElementById("pair");
      if (!changed) setTimeout(look, 3000);
      else if (made) lacks.closest("#pair").replaceWith(document.importNode(made, true));
      else if (!writing) location.reload();
    };
    setTimeout(look, 3000);
  }
};
follow(document);

// forms that cannot be undone ask first
document.addEventListener("submit", (event) => {
  const asked = event.target.dataset.confirm;
  if (asked && !confirm(asked)) event.preventDefault();
});

// a form that is refused stays as it was filled in, with what is wrong at the field that it is about
const about = (form, names) => {
  const fits = (control) => [control.name, ...(control.dataset.about ?? "").split(" ")]
    .some((own) => own && names.some((name) => name === own || name.startsWith(`${own}.`)))
    || [...control.files ?? []].some((file) => names.includes(file.name));
  const found = [...form.elements].filter(fits);
  return found.find((control) => (control.type === "checkbox" ? control.checked : control.value)) ?? found[0];
};
const refuse = (form, button, words, names, onward) => {
  const control = about(form, names) ?? button;
  const told = Object.assign(document.createElement("span"), { id: "wrong", className: "wrong", textContent: words });
  if (onward) told.append(" ", Object.assign(document.importNode(onward, true), { className: "", target: "_blank" }));
  const field = control.closest(".field, fieldset") ?? control.parentElement;
  (field.querySelector(":scope > .facts:not([role])") ?? field).append(told);
  for (let own = control; own; own = own.parentElement) if (own.tagName === "DETAILS") own.open = true;
  if (control !== button) control.setAttribute("aria-invalid", "true");
  control.dataset.described = control.getAttribute("aria-describedby") ?? "";
  control.setAttribute("aria-describedby", `wrong ${control.dataset.described}`.trim());
  control.focus();
  told.scrollIntoView({ block: "nearest" });
};
const accept = () => {
  document.getElementById("wrong")?.remove();
  for (const control of document.querySelectorAll("[data-described]")) {
    control.removeAttribute("aria-invalid");
    control.setAttribute("aria-describedby", control.dataset.described);
    delete control.dataset.described;
  }
};
const send = async (form, button) => {
  const data = new FormData(form, button);
  const body = form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
  const told = Object.assign(document.createElement("span"), { className: "facts", textContent: "Sending…" });
  told.setAttribute("role", "status");
  button.after(" ", told);
  form.setAttribute("aria-busy", "true");
  accept();
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
    if (answer.redirected) return location.assign(answer.url);
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    const recognised = found.getElementById("recognised");
    const problem = found.querySelector("[data-fields]");
    if (recognised) {
      document.getElementById("recognised")?.remove();
      button.closest(".actions").before(document.importNode(recognised, true));
      const shown = document.getElementById("recognised");
      shown.tabIndex = -1;
      shown.focus();
    } else {
      const names = problem?.dataset.fields.split("\n") ?? [];
      const words = problem?.textContent ?? `The service answered ${answer.status}; what you chose is still here.`;
      refuse(form, button, words, names, answer.status === 401 && found.querySelector("a.act"));
    }
  } catch {
    refuse(form, button, "The service cannot be reached; what you chose is still here.", []);
  } finally {
    told.remove();
    form.removeAttribute("aria-busy");
  }
};
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("main form[method=post]:has(.field):not([action='/sign-in'], :has([name=kept]))")) return;
  event.preventDefault();
  if (form.ariaBusy !== "true") send(form, event.submitter ?? form.querySelector("button"));
});

// what is meant to be taken elsewhere is copied
const offer = () => {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
};
offer();
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const words = button.textContent;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = words; }, 2000);
});

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
      if (!file.name.startsWith(".")) found.push(path ? new File([file], path + file.name, { type: file.type }) : file);
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
    if (input.ariaInvalid) accept(); // that was about other files
    status.textContent = input.files.length ? "Reading the files…" : "";
    status.classList.remove("unseen");
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
    // what appears below is read aloud in short: it is no part of what is chosen
    const read = [...(recognised ?? found).querySelectorAll(".answer")].map((own) => own.textContent);
    status.textContent = read.join(" ");
    status.classList.toggle("unseen", Boolean(recognised));
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
  // who comes back finds the files still chosen, and reads again what was recognised
  addEventListener("pageshow", () => { if (input.files.length && list.hidden) look(); });
}

// numbers and signs say in full what they are about
document.addEventListener("mouseover", (event) => {
  const link = event.target.closest?.("td a[aria-label]");
  if (link) link.title = link.ariaLabel;
});

// parts of a page change in place; the address is always that of the whole page
const pair = () => document.getElementById("pair");
let at = location.search;
const go = (address) => {
  history.pushState(null, "", address);
  at = location.search;
};
let latest = 0;
// what is asked for later goes before what is answered later: then there is nothing to show
const ask = async (address, busy) => {
  const mine = ++latest;
  for (const own of document.querySelectorAll("main, #pair")) own.removeAttribute("aria-busy");
  busy.setAttribute("aria-busy", "true");
  let found = null;
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
  } catch { /* the browser says so where it goes to the address itself */ }
  return mine === latest ? found : undefined;
};
// what cannot be shown is told at its form, and everything stays; without a form, or where somebody must
// sign in and comes back there, the browser goes there
const reject = (busy, found, address, form) => {
  const problem = found?.querySelector("[data-fields]");
  if (!problem || !form || found.querySelector("a.act[href^='/sign-in']")) return location.assign(address);
  busy.removeAttribute("aria-busy");
  accept();
  refuse(form, form.querySelector("button"), problem.textContent, problem.dataset.fields.split("\n"));
};
const named = (element) => [element.tagName, element.name ?? "", element.tagName === "A" ? element.textContent : ""].join();

// the order of tables, what is hidden, and how it is decided: all that is about the report
const show = async (address, push, form = null) => {
  const main = document.getElementById("main");
  const held = document.activeElement;
  const all = () => [...document.querySelectorAll("main :is(a, button, input, select)")];
  const alike = () => all().filter((own) => named(own) === named(held));
  const place = alike().indexOf(held);
  const found = await ask(address, main);
  if (found === undefined) return;
  if (!found?.querySelector("#say, .choose")) return reject(main, found, address, form);
  const opened = [...main.querySelectorAll("details[open] > summary")].map((own) => own.textContent);
  main.replaceWith(document.importNode(found, true));
  for (const own of document.querySelectorAll("main details > summary")) {
    if (opened.includes(own.textContent)) own.parentElement.open = true;
  }
  if (push) go(address);
  offer();
  follow(document.getElementById("main"));
  if (place >= 0) (alike()[place] ?? alike()[0])?.focus({ preventScroll: true });
};

// what is chosen in place goes into the links and forms that were written before
const carry = (chosen, links, forms) => {
  for (const own of document.querySelectorAll(links)) {
    if (own.pathname !== location.pathname) continue;
    const address = new URL(own.href);
    for (const [name, value] of Object.entries(chosen)) address.searchParams.set(name, value);
    own.href = address.pathname + address.search + address.hash;
  }
  for (const form of document.querySelectorAll(forms)) {
    for (const [name, value] of Object.entries(chosen)) {
      const held = form.elements[name] ?? form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name }));
      held.value = value;
    }
  }
};

// one pair, beside who is better than whom
const OF_PAIR = ["start", "document", "better", "order", "shortest", "longest"];
const chosen = (link) => {
  const asked = new URL(link.href).searchParams;
  const here = new URLSearchParams(location.search);
  for (const name of OF_PAIR) here.delete(name);
  for (const [name, value] of asked) if (["a", "b"].includes(name) || !here.has(name)) here.set(name, value);
  return `${location.pathname}?${here}#pair`;
};
const open = async (address, form = null) => {
  const panel = pair();
  const answer = await ask(panel.dataset.panel + new URL(address, location.href).search, panel);
  if (answer === undefined) return;
  const found = answer?.querySelector("#pair");
  if (!found) return reject(panel, answer, address, form);
  const within = panel.contains(document.activeElement);
  panel.replaceWith(document.importNode(found, true));
  go(address);
  follow(pair());
  const opened = [...new URL(address, location.href).searchParams].filter(([name]) => ["a", "b", "testset"].includes(name));
  carry(Object.fromEntries(opened), "main > nav.choose a, .decide a, thead a, .sigtest .pages a", ".decide form");
  const pairOf = (search) => ["a", "b"].map((name) => new URLSearchParams(search).get(name)).sort().join("\n");
  const current = pairOf(new URL(address, location.href).search);
  for (const link of document.querySelectorAll("td [aria-current]")) link.removeAttribute("aria-current");
  for (const link of document.querySelectorAll("td a")) {
    if (pairOf(link.search) === current) link.setAttribute("aria-current", "true");
  }
  // who turned a page of segments with the keyboard goes on at the first of the new ones; whoever
  // opened a pair, at its heading, which is read out
  const onward = (within && pair().querySelector(".segments")) || pair().querySelector("h2") || pair();
  onward.tabIndex = -1;
  onward.focus({ preventScroll: true });
  const { top } = onward.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) onward.scrollIntoView();
};

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!link || !plain || link.pathname !== location.pathname) return;
  if (pair() && link.hash === "#pair") {
    event.preventDefault();
    open(link.matches("td a") ? chosen(link) : link.href);
  } else if (link.matches(".choose a, .decide a, thead a, .sigtest .pages a")) {
    event.preventDefault();
    show(link.href, true);
  }
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  const within = form.matches("#pair form");
  if (!within && !form.matches(".decide form, .hide form")) return;
  event.preventDefault();
  const fields = [...new FormData(form)].filter(([, value]) => value !== "");
  const address = `${location.pathname}?${new URLSearchParams(fields)}`;
  if (within) open(`${address}#pair`, form);
  else show(address, true, form);
});
// another place on the same page, such as the skip link's, has nothing else to show
if (document.querySelector("#say, .choose")) addEventListener("popstate", () => {
  if (location.search === at) return;
  at = location.search;
  show(location.href, false);
});

// the viewer of the interface looks like the page
const viewer = document.querySelector("rapi-doc");
if (viewer) {
  const look = getComputedStyle(document.documentElement);
  const colours = { "bg-color": "--paper", "text-color": "--ink", "primary-color": "--accent" };
  for (const [part, name] of Object.entries(colours)) viewer.setAttribute(part, look.getPropertyValue(name).trim());
  viewer.setAttribute("theme", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  // it draws a main part of its own, where the page has one already
  customElements.whenDefined("rapi-doc").then(() => {
    const mute = () => viewer.shadowRoot.querySelector("main")?.setAttribute("role", "group");
    new MutationObserver(mute).observe(viewer.shadowRoot, { childList: true, subtree: true });
    mute();
  });
}
