// The form of /ui. The answer is the document of a report, which report.js draws as in the page of `cobra-client
// report`. Everything that comes from a model or the server becomes text, never markup.
"use strict";

const MOST_TARGETS = 8; // of one page: kMostReported (report/document.h); the server refuses more
const at = (name) => document.getElementById("ask-" + name);
const textOf = (name) => at(name).value.trim();
let files = []; // that were chosen or dropped; none: the source counts
let allTargets = [];
let asking = null; // an AbortController while the server is asked

// make("p", {className: "note"}, "text", node...)
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

async function ask(path, options) {
  const token = textOf("token");
  const headers = token ? { Authorization: "Bearer " + token } : {};
  const response = await fetch(path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
  const text = await response.text();
  let reply;
  try {
    reply = JSON.parse(text);
  } catch {
    throw { message: "the answer is not JSON (HTTP " + response.status + ")" };
  }
  if (!response.ok) throw reply.error || { message: "HTTP " + response.status };
  return reply;
}

// ---- errors

// Fields as the API calls them, and as they are called here.
const LABELS = {
  model: "Model", arch: "Architecture", entry: "Entry", method: "Method", mode: "Mode",
  file: "Files", input: "Inputs", inputs: "Inputs", arg: "Arguments", arguments: "Arguments",
  torch_version: "PyTorch", cached_tokens: "Cached tokens", target: "Targets", targets: "Targets",
};

function inWordsOfPage(text) {
  const label = (name, otherwise) => (Object.hasOwn(LABELS, name) ? LABELS[name] : otherwise);
  return text
    .replace("one `inputs` for", "one line of `inputs` for")
    .replace(/`(\w+)`/g, (whole, name) => label(name, whole))
    .replace(/^(\w+)(?=[:=])/, (name) => label(name, name))
    .replace(/^leave (\w+) out$/, (whole, name) => "leave " + label(name, name) + " empty");
}

function placeText(where) {
  return where.file + (where.line ? ":" + where.line : "");
}

function showError(error) {
  const place = error.where ? placeText(error.where) + ": " : "";
  const parts = [make("p", {}, make("strong", {}, place + inWordsOfPage(error.message)))];
  if (error.source_line) {
    const column = error.where && error.where.column ? error.where.column : 1;
    const end = error.where && error.where.end_column > column ? error.where.end_column : column + 1;
    const marks = " ".repeat(column - 1) + "^".repeat(end - column);
    parts.push(make("pre", { tabIndex: 0 }, error.source_line + "\n" + marks));
  }
  // The innermost call is where the error is.
  for (const frame of (error.frames || []).slice(0, -1))
    parts.push(make("p", { className: "soft" }, "called at " + placeText(frame.where) + ", in " + frame.function));
  if (error.hint) parts.push(make("p", {}, "Hint: " + inWordsOfPage(error.hint)));
  if (error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED") at("access").open = at("box").open = true;
  at("error").replaceChildren(...parts);
  at("error").hidden = false;
  at("error").scrollIntoView({ block: "nearest" });
}

// ---- the question

function chosenTargets() {
  const chosen = [...at("targets").selectedOptions].map((option) => option.value);
  if (chosen.length > 0 || allTargets.some((target) => target.spec.name === "this-machine")) return chosen;
  return [...at("targets").options].slice(0, MOST_TARGETS).map((option) => option.value);
}

function formData() {
  const form = new FormData();
  const add = (field, text) => text && form.append(field, text);
  const source = at("source").value;
  const main = files[at("main").selectedIndex];
  if (main) form.append("model", main, main.name);
  else if (source.trim()) form.append("model", new Blob([source], { type: "text/x-python" }), "model.py");
  for (const file of files) if (file !== main) form.append("file", file, file.name);
  add("arch", textOf("arch"));
  add("entry", textOf("entry"));
  add("method", textOf("method"));
  add("mode", at("mode").value === "train" && "train");
  add("torch_version", textOf("torch"));
  add("cached_tokens", textOf("tokens"));
  add("keep_private", at("private").checked && "true");
  for (const line of at("inputs").value.split("\n")) add("input", line.trim());
  for (const line of at("arguments").value.split("\n")) add("arg", line.trim());
  for (const target of chosenTargets()) form.append("target", target);
  return form;
}

async function predict(event) {
  event.preventDefault();
  if (asking) return;
  asking = new AbortController();
  const report = document.getElementById("report");
  report.hidden = at("error").hidden = true;
  at("send").disabled = true;
  at("stop").hidden = false;
  at("state").textContent = "reading the model and asking …";
  try {
    const answer = await ask("/ui/report", { method: "POST", body: formData(), signal: asking.signal });
    report.hidden = false;
    show(answer, report);
  } catch (error) {
    at("state").textContent = "";
    if (error.name === "AbortError") report.hidden = false; // the answer before
    else showError(error);
  }
  asking = null;
  at("send").disabled = false;
  at("stop").hidden = true;
}

function show(answer, report) {
  renderReport(answer, report);
  document.title = answer.title + ": latency";
  at("summary").textContent = "Another question";
  at("state").textContent = "";
  at("box").open = false;
  report.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

// ---- the fields

function chooseFiles(chosen) {
  files = [...chosen];
  const bytes = files.reduce((sum, file) => sum + file.size, 0).toLocaleString("en") + " bytes";
  const names = files.length === 1 ? files[0].name : files.length + " files";
  at("chosen").textContent = files.length > 0 ? names + ", " + bytes : "";
  at("main").replaceChildren(...files.map((file) => make("option", {}, file.name)));
  at("several").hidden = files.length < 2;
  at("clear").hidden = files.length === 0;
  at("source").disabled = files.length > 0;
  if (files.length === 0) at("file").value = "";
}

function listTargets() {
  const words = at("filter").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const chosen = new Set([...at("targets").selectedOptions].map((option) => option.value));
  const fits = ({ spec }) => {
    const text = [spec.name, spec.device, spec.runtime].join(" ").toLowerCase();
    return chosen.has(spec.name) || words.every((word) => text.includes(word));
  };
  const options = allTargets.filter(fits).map(({ spec }) =>
    make("option", { value: spec.name, selected: chosen.has(spec.name), title: spec.device }, spec.name));
  at("targets").replaceChildren(...options);
}

async function loadTargets() {
  try {
    const info = await ask("/v1/model-info");
    allTargets = (await ask("/v1/targets")).targets;
    at("served").textContent = "model " + info.version + ", " + allTargets.length + " targets";
    at("error").hidden = true;
    listTargets();
  } catch (error) {
    showError(error);
  }
}

at("source").form.addEventListener("submit", predict);
at("stop").addEventListener("click", () => asking && asking.abort());
at("source").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("source").form.requestSubmit();
});
at("filter").addEventListener("input", listTargets);
at("token").addEventListener("change", loadTargets);
at("file").addEventListener("change", () => chooseFiles(at("file").files));
at("clear").addEventListener("click", () => chooseFiles([]));
// Anywhere: a browser would otherwise leave the page for a file that misses the field.
const hasFiles = (event) => event.dataTransfer.types.includes("Files");
document.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  at("drop").classList.add("over");
});
document.addEventListener("dragleave", () => at("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  at("drop").classList.remove("over");
  at("box").open = true;
  chooseFiles(event.dataTransfer.files);
});
loadTargets();
