// The page of /ui. Everything that comes from a model or the server becomes text, never markup.
"use strict";

const MOST_CALLS = 200; // rows of the breakdown that are shown
const MOST_TARGETS = 8; // for which it is asked: the calls of all targets together would be a large reply
const at = (id) => document.getElementById(id);
let droppedFile = null;
let allTargets = [];

// make("td", {className: "number"}, "1.5", node...)
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function table(columns, rows) {
  const cell = (tag, column, content) => make(tag, { className: column.number ? "number" : "" }, content);
  const head = make("tr", {}, ...columns.map((column) => cell("th", column, column.title)));
  const body = rows.map((row) => make("tr", {}, ...columns.map((column) => cell("td", column, column.value(row)))));
  return make("div", { className: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

const milliseconds = (us) => (us / 1000).toPrecision(4);
const percent = (share) => (100 * share).toFixed(1) + " %";
const count = (number) => Number(number).toLocaleString("en");

async function ask(path, options) {
  const token = at("token").value.trim();
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

function showError(error) {
  const box = at("error");
  const where = error.where ? error.where.file + (error.where.line ? ":" + error.where.line : "") + ": " : "";
  const parts = [make("p", {}, make("strong", {}, where + error.message))];
  if (error.source_line) {
    const column = error.where && error.where.column ? error.where.column : 1;
    const end = error.where && error.where.end_column > column ? error.where.end_column : column + 1;
    const marks = " ".repeat(column - 1) + "^".repeat(end - column);
    parts.push(make("pre", {}, error.source_line + "\n" + marks));
  }
  // The innermost call is where the error is.
  for (const frame of (error.frames || []).slice(0, -1)) {
    const place = frame.where.file + ":" + (frame.where.line || 0);
    parts.push(make("p", { className: "note" }, "called at " + place + ", in " + frame.function));
  }
  if (error.hint) parts.push(make("p", {}, "Hint: " + error.hint));
  if (error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED") at("access").open = true;
  box.replaceChildren(...parts);
  box.hidden = false;
}

function intervalText(prediction) {
  const ends = milliseconds(prediction.low_us) + " to " + milliseconds(prediction.high_us);
  return prediction.coverage > 0 ? ends : "a guess: " + ends;
}

function predictionTable(reply) {
  const unsure = (prediction) => prediction.unknown.map((part) => part.why + " (" + percent(part.share) + ")").join("; ");
  const columns = [
    { title: "target", value: (prediction) => prediction.target },
    { title: "ms", number: true, value: (prediction) => milliseconds(prediction.latency_us) },
    { title: "interval, ms", number: true, value: intervalText },
    { title: "confidence", number: true, value: (prediction) => prediction.confidence.toFixed(2) },
  ];
  if (reply.predictions.some((prediction) => prediction.unknown.length > 0))
    columns.push({ title: "unsure about", value: unsure });
  return table(columns, [...reply.predictions].sort((a, b) => a.latency_us - b.latency_us));
}

function breakdownTable(prediction) {
  const share = (row) => (prediction.latency_us > 0 ? row.latency_us / prediction.latency_us : 0);
  const bar = (row) => make("meter", { min: 0, max: 1, value: Math.max(0, share(row)), ariaLabel: percent(share(row)) });
  const rows = [...prediction.breakdown].sort((a, b) => b.latency_us - a.latency_us).slice(0, MOST_CALLS);
  const columns = [
    { title: "call", number: true, value: (row) => String(row.node) },
    { title: "operator", value: (row) => row.op },
    { title: "module", value: (row) => row.module_path },
    { title: "ms", number: true, value: (row) => milliseconds(row.latency_us) },
    { title: "share", number: true, value: (row) => percent(share(row)) },
    { title: "", value: bar },
    { title: "where", value: (row) => (row.file ? row.file + (row.line ? ":" + row.line : "") : "") },
  ];
  return table(columns, rows);
}

function showAnswer(reply) {
  const place = make("div", {});
  const choice = make("select", { ariaLabel: "Target of the breakdown" });
  for (const prediction of reply.predictions) choice.append(make("option", {}, prediction.target));
  const show = () => place.replaceChildren(breakdownTable(reply.predictions[choice.selectedIndex]));
  choice.addEventListener("change", show);
  const calls = reply.predictions.length > 0 ? reply.predictions[0].breakdown.length : 0;
  const summary =
    count(reply.node_count) + " calls, " + count(reply.parameter_count) + " parameters, " + count(reply.macs) +
    " multiply-accumulates, peak memory " + (Number(reply.peak_memory_bytes) / 2 ** 20).toFixed(1) + " MiB";
  const parts = [make("h2", {}, "Latency"), make("p", { className: "note" }, summary), predictionTable(reply)];
  if (calls === 0) {
    parts.push(make("p", { className: "note" }, "Choose up to " + MOST_TARGETS + " targets to see the calls."));
  } else {
    const title = calls > MOST_CALLS ? "The " + MOST_CALLS + " slowest of " + count(calls) + " calls" : "Calls, the slowest first";
    parts.push(make("h2", {}, title), choice, place);
    show();
  }
  at("answer").replaceChildren(...parts);
  at("answer").hidden = false;
}

function formData() {
  const form = new FormData();
  const source = at("source").value;
  const arch = at("arch").value.trim();
  if (droppedFile) form.append("model", droppedFile, droppedFile.name);
  else if (source.trim()) form.append("model", new Blob([source], { type: "text/x-python" }), "model.py");
  if (arch) form.append("arch", arch);
  if (at("entry").value.trim()) form.append("entry", at("entry").value.trim());
  for (const line of at("inputs").value.split("\n")) if (line.trim()) form.append("input", line.trim());
  const chosen = [...at("targets").selectedOptions].map((option) => option.value);
  for (const target of chosen) form.append("target", target);
  const few = chosen.length > 0 ? chosen.length <= MOST_TARGETS : allTargets.some((target) => target.spec.name === "this-machine");
  form.append("breakdown", String(few));
  return form;
}

async function predict(event) {
  event.preventDefault();
  at("error").hidden = true;
  at("answer").hidden = true;
  at("send").disabled = true;
  at("state").textContent = "asking …";
  try {
    showAnswer(await ask("/v1/predict", { method: "POST", body: formData() }));
    at("state").textContent = "";
  } catch (error) {
    at("state").textContent = "";
    showError(error);
  }
  at("send").disabled = false;
}

function chooseFile(file) {
  droppedFile = file;
  at("chosen").textContent = file ? file.name + ", " + count(file.size) + " bytes" : "";
  at("clear").hidden = !file;
  at("source").disabled = Boolean(file);
  if (!file) at("file").value = "";
}

function listTargets() {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = new Set([...at("targets").selectedOptions].map((option) => option.value));
  const fits = (target) => {
    const text = [target.spec.name, target.spec.device, target.spec.runtime].join(" ").toLowerCase();
    return chosen.has(target.spec.name) || words.every((word) => text.includes(word));
  };
  const options = allTargets.filter(fits).map((target) => {
    const name = target.spec.name;
    return make("option", { value: name, selected: chosen.has(name), title: target.spec.device }, name);
  });
  at("targets").replaceChildren(...options);
}

async function loadTargets() {
  try {
    const info = await ask("/v1/model-info");
    allTargets = (await ask("/v1/targets")).targets;
    at("model").textContent = "model " + info.version + ", " + count(allTargets.length) + " targets";
    at("error").hidden = true;
    listTargets();
  } catch (error) {
    showError(error);
  }
}

at("ask").addEventListener("submit", predict);
at("filter").addEventListener("input", listTargets);
at("token").addEventListener("change", loadTargets);
at("file").addEventListener("change", () => chooseFile(at("file").files[0] || null));
at("clear").addEventListener("click", () => chooseFile(null));
at("drop").addEventListener("dragover", (event) => {
  event.preventDefault();
  at("drop").classList.add("over");
});
at("drop").addEventListener("dragleave", () => at("drop").classList.remove("over"));
at("drop").addEventListener("drop", (event) => {
  event.preventDefault();
  at("drop").classList.remove("over");
  if (event.dataTransfer.files.length > 0) chooseFile(event.dataTransfer.files[0]);
});
loadTargets();
