// The page: buttons and panels around the stage, and the commands that they send.
import "./style.css";
import { Plot, short } from "./plot";
import { Embedded } from "./embedded";
import { Connection, type Hello, type ModuleInfo, type State, type Viewer } from "./protocol";
import { loadGradient, rampGradient } from "./look";
import { Stage } from "./stage";
import * as THREE from "three";

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const stage = new Stage($("stage"), $("labels"));
let hello: Hello | null = null;
let state: State | null = null;
let lookAgain = false;  // the copy of a robot will move, so the camera must see everything again
let watched = "";
let things: { name: string; module: boolean }[] = [];
const plots = new Map<string, Plot>();
const marks: [time: number, module: string, text: string][] = [];  // on the time line
const history: number[][] = [];  // all values of all metrics, for plots that are opened later

// --- Messages in --------------------------------------------------------------------------------
const viewer: Viewer = {
  text(message) {
    if (message.type === "hello") greet(message);
    else if (message.type === "state") showState(message);
    else if (message.type === "module") showModule(message);
    else if (message.type === "log") { addLog(message.time, message.module, message.text); requestAnimationFrame(drawMarks); }
    else if (message.type === "metrics") addMetrics(message.points);
    else if (message.type === "item") showItem(message);
    else if (message.type === "colors") showColors(message.value, message.least ?? 0, message.most ?? 0);
    else if (message.type === "error") say(message.text, true);
  },
  tree(tree) {
    things = tree.info.things;
    stage.load(tree);
    watchedItem = -1;
    showCloud();
  },
  cloud(news) {
    stage.updateCloud(news);
    sayCloud();
  },
  frame(frame) {
    stage.update(frame);
    if (lookAgain) { stage.home(); lookAgain = false; }
    $("clock").textContent = hello?.mode === "robot" ? "" : `${frame.time.toFixed(3)} s  ·  tick ${frame.tick}`;
    if (!dragging) $<HTMLInputElement>("time").value = String(frame.tick);
  },
  connected(yes, why) {
    say(yes ? "connected" : `not connected${why ? ": " + why : ""}; trying again …`, !yes);
    if (yes && watchedItem >= 0) connection.send({ type: "watch", module: "", item: watchedItem });
    if (yes && watched) connection.send({ type: "watch", module: watched });
    if (yes && stage.show.rays) connection.send({ type: "rays", on: true });
  },
};
const recording = document.getElementById("volvox-recording");  // in a page that stands alone
const connection = recording ? new Embedded(recording, viewer) : new Connection(viewer);

function say(text: string, bad = false) {
  $("status").textContent = text;
  $("status").classList.toggle("bad", bad);
}

function greet(message: Hello) {
  hello = message;
  state = null;
  history.length = marks.length = 0;
  document.title = `${message.name} · Volvox`;
  $("title").textContent = message.name;
  say([`${message.modules} module${message.modules === 1 ? "" : "s"}`, message.engine && `engine ${message.engine}`, message.seed !== undefined && `seed ${message.seed}`,
    message.recorded && "recording", message.mode === "replay" && (message.complete ? "replay" : "replay of a run that was interrupted"),
    message.shown_ticks && message.recorded_ticks && message.shown_ticks < message.recorded_ticks && `${message.shown_ticks} of ${message.recorded_ticks} ticks`].filter(Boolean).join(" · "));
  const replay = message.mode === "replay", robot = message.mode === "robot";
  for (const id of ["play", "step", "reset", "speed"]) $(id).closest("label, button")!.toggleAttribute("hidden", robot);
  $("timeline").hidden = robot || message.ticks <= 0;
  $("show-rays").closest("label")!.hidden = message.mode !== "run";
  const time = $<HTMLInputElement>("time");
  time.min = String(message.first_tick ?? 0);
  time.max = String(message.ticks);
  time.disabled = !replay;  // only a recording can be moved in time
  $("log").hidden = true;
  $("log").querySelector("ol")!.replaceChildren();
  for (const [at, module, text] of message.marks ?? []) addLog(at, module, text);
  drawMarks();
  if (message.points) addMetrics(message.points);
  showParameters();
  showMetricsList();
  showRobot();
  stage.labelDocks = robot;
  if (robot) { stage.show.labels = true; $<HTMLInputElement>("show-labels").checked = true; }
  stage.forgetTrails();
}

function showState(message: State) {
  state = message;
  $("play").textContent = message.paused ? "Run" : "Pause";
  $<HTMLSelectElement>("speed").value = String(message.speed);
  if (message.failure) say(message.failure, true);
  else if (message.ended && hello?.mode === "run") say("the run has ended");
  if (message.docking !== undefined) {
    $("docking").textContent = message.docking;
    $("docking").classList.toggle("bad", message.docking !== "" && !message.docked);
  }
}

// --- The selected module --------------------------------------------------------------------------
function flatten(prefix: string, value: unknown, out: [string, unknown][]) {
  if (Array.isArray(value) && value.length <= 4) value.forEach((v, i) => flatten(`${prefix}[${i}]`, v, out));
  else if (value && typeof value === "object" && !Array.isArray(value)) for (const [key, v] of Object.entries(value)) flatten(`${prefix}.${key}`, v, out);
  else out.push([prefix, value]);
}

function show(value: unknown) {
  if (typeof value === "number") return short(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 80 ? text.slice(0, 77) + "…" : text;
}

interface Table { title: string; rows: [name: string, value: string, click?: () => void][] }

let shape = "";  // the rows of the panel: while they stay the same, only texts are replaced, so that no click is lost
function showModule(message: ModuleInfo) {
  if (message.name !== watched) return;
  const plottable = (values: Record<string, unknown>, time: number): Table["rows"] => {
    const flat: [string, unknown][] = [];
    for (const [name, value] of Object.entries(values)) flatten(name, value, flat);
    for (const [name, value] of flat) if (typeof value === "number") plots.get(`${message.name} ${name}`)?.add(time, value);
    return flat.map(([name, value]) => [name, show(value), typeof value === "number" ? () => openPlot(`${message.name} ${name}`) : undefined]);
  };
  const percepts = plottable(message.percepts, message.mind_time ?? message.time), joints = plottable(message.joints ?? {}, message.time);
  for (const plot of plots.values()) plot.draw();
  const actions: [string, unknown][] = [], known: [string, unknown][] = [];
  for (const [name, value] of Object.entries(message.actions)) flatten(name, value, actions);
  if (message.knows) flatten(message.knows.type, message.knows.value, known);
  const tables: Table[] = [
    { title: "Joints", rows: joints },
    { title: "Percepts", rows: percepts },
    { title: "Actions", rows: actions.map(([name, value]) => [name, show(value)]) },
    { title: "Model", rows: known.map(([name, value]) => [name, show(value)]) },
    { title: "Mailbox", rows: [["waiting", String(message.waiting)], ...message.mailbox.slice(0, 8).map((m): [string, string] => [m.dock, `sent ${m.sent.toFixed(3)} s, ${m.bytes} bytes`])] },
    { title: "Docks", rows: message.docks.map((d) => [d.name, `${d.broken ? "broken" : d.state}${d.enabled ? "" : ", disabled"}${d.partner ? " with " + d.partner : ""}${d.state === "free" ? "" : `, ${(100 * d.load).toFixed(0)} % load`}`]) },
  ];
  if (message.mind_time !== undefined && message.mind_time < message.time) tables[1].rows.unshift(["as of", `${message.mind_time.toFixed(2)} s`]);
  const now = JSON.stringify([message.name, tables.map((t) => [t.title, t.rows.map((row) => row[0])]), message.docks.map((d) => d.enabled), message.parameters]);
  const section = $("module");
  if (now !== shape && !section.matches(":focus-within")) {
    shape = now;
    buildModule(section, message, tables);
  } else {
    const cells = new Map([...section.querySelectorAll<HTMLElement>("td.value")].map((cell) => [cell.dataset.of, cell]));
    for (const { title, rows } of tables)
      rows.forEach(([name, value], i) => {
        const cell = cells.get(`${title} ${i} ${name}`);
        if (cell && cell.textContent !== value) cell.textContent = value;
      });
  }
}

function buildModule(section: HTMLElement, message: ModuleInfo, tables: Table[]) {
  section.replaceChildren();
  section.hidden = false;
  const head = document.createElement("h2");
  head.append(`${message.name}${message.model ? " · " + message.model : ""}`);
  const close = document.createElement("button");
  close.textContent = "Close";
  close.onclick = () => watch(-1);
  head.append(close);
  section.append(head);
  for (const { title, rows } of tables) {
    if (rows.length === 0) continue;
    const body = document.createElement("table");
    rows.forEach(([name, value, click], i) => {
      const row = body.insertRow();
      row.insertCell().textContent = name;
      const cell = row.insertCell();
      cell.textContent = value;
      cell.className = "value";
      cell.dataset.of = `${title} ${i} ${name}`;
      if (click) { row.className = "plottable"; row.title = "Plot this value"; row.onclick = click; }
    });
    section.append(Object.assign(document.createElement("h3"), { textContent: title }), body);
  }
  if (hello?.mode !== "run") return;
  const parameters = Object.entries(message.parameters);
  if (parameters.length > 0) section.append(Object.assign(document.createElement("h3"), { textContent: "Parameters of this module" }));
  for (const [name, value] of parameters) section.append(field(name, value, [], (text) => connection.send({ type: "input", kind: "parameter", module: message.name, name, text })));
  const push = Object.assign(document.createElement("button"), { textContent: "Push up" });
  push.onclick = () => connection.send({ type: "input", kind: "push", module: message.name, name: "", force: [0, 0, 30] });
  section.append(Object.assign(document.createElement("h3"), { textContent: "Act on this module" }), push);
  for (const dock of message.docks) {
    const button = Object.assign(document.createElement("button"), { textContent: `${dock.enabled ? "Disable" : "Enable"} ${dock.name}` });
    button.onclick = () => { connection.send({ type: "input", kind: "dock", module: message.name, name: dock.name, value: dock.enabled ? 0 : 1 }); button.blur(); };
    section.append(" ", button);
  }
}

function watch(placement: number) {
  const name = placement >= 0 && things[placement]?.module ? things[placement].name : "";
  stage.picked = name ? placement : -1;
  stage.redraw();
  watched = name;
  if (!name) { $("module").hidden = true; shape = ""; }
  else showSide(true);
  connection.send({ type: "watch", module: name });
}

// --- The cloud: what an experiment simulates beside modules, such as catoms --------------------------------
let watchedItem = -1;

function sayCloud() {
  const { info, count } = stage.cloud, total = $("cloud").querySelector("h2");
  if (info && total) total.textContent = `${count.toLocaleString("en")} ${info.noun}${count === 1 ? "" : "s"}`;
  const slider = $<HTMLInputElement>("cut-at");
  if (slider) setCutRange();
}

function setCutRange() {
  const axis = Number($<HTMLSelectElement>("cut").value), slider = $<HTMLInputElement>("cut-at"), { bounds } = stage.cloud;
  slider.disabled = axis < 0;
  if (axis < 0 || bounds.isEmpty()) return;
  slider.min = String(bounds.min.getComponent(axis));
  slider.max = String(bounds.max.getComponent(axis));
  slider.step = String((Number(slider.max) - Number(slider.min)) / 1000 || 1);
}

function showCloud() {
  const section = $("cloud"), { info } = stage.cloud;
  section.replaceChildren();
  section.hidden = !info;
  if (!info) return;
  section.append(document.createElement("h2"));
  const choice = (id: string, text: string, options: [string, string][], change: (value: string) => void) => {
    const label = document.createElement("label"), select = Object.assign(document.createElement("select"), { id });
    for (const [name, value] of options) select.add(new Option(name, value));
    select.onchange = () => change(select.value);
    label.append(text, select);
    section.append(label);
  };
  if (hello?.mode === "run" && info.values.length > 0)
    choice("color-by", "Colour by", [["its own colour", ""], ...info.values.map((v): [string, string] => [v, v])], (value) => connection.send({ type: "color", value }));
  const legend = Object.assign(document.createElement("p"), { id: "color-legend", hidden: true });
  section.append(legend);
  choice("cut", "Cut open", [["nowhere", "-1"], ["across x", "0"], ["across y", "1"], ["across z", "2"]], (value) => {
    setCutRange();
    const axis = Number(value), slider = $<HTMLInputElement>("cut-at");
    slider.value = String((Number(slider.min) + Number(slider.max)) / 2);
    stage.cut(axis < 0 ? null : { axis, at: Number(slider.value) });
  });
  const label = document.createElement("label"), slider = Object.assign(document.createElement("input"), { type: "range", id: "cut-at", disabled: true });
  slider.oninput = () => stage.cut({ axis: Number($<HTMLSelectElement>("cut").value), at: Number(slider.value) });
  label.append("at", slider);
  section.append(label, Object.assign(document.createElement("div"), { id: "item" }));
  sayCloud();
}

function showColors(value: string, least: number, most: number) {
  const legend = $("color-legend");
  if (!legend) return;
  legend.hidden = value === "";
  const ramp = document.createElement("i");
  ramp.style.background = rampGradient();
  legend.replaceChildren(`${short(least)} `, ramp, ` ${short(most)}`);
}

function watchItem(item: number) {
  watchedItem = item;
  stage.pickedItem = item;
  stage.redraw();
  connection.send({ type: "watch", module: "", item });
  const panel = $("item");
  if (panel) panel.replaceChildren();
  if (item >= 0) { showSide(true); showItem({ type: "item", item, state: hello?.mode === "replay" ? ["its state was not recorded"] : [] }); }
}

function showItem(message: { type: "item"; item: number; state: string[] }) {
  const panel = $("item"), { info } = stage.cloud, place = stage.cloud.place(message.item);
  if (message.item !== watchedItem || !panel || !info) return;
  if (panel.dataset.item !== String(message.item) || panel.childElementCount === 0) {
    panel.dataset.item = String(message.item);
    const head = Object.assign(document.createElement("h3"), { textContent: `${info.noun} ${message.item}` });
    const close = Object.assign(document.createElement("button"), { textContent: "Close" });
    close.onclick = () => watchItem(-1);
    head.append(" ", close);
    if (info.tap && hello?.mode === "run") {
      const tap = Object.assign(document.createElement("button"), { id: "tap", textContent: "Tap" });
      tap.onclick = () => connection.send({ type: "input", kind: "tap", value: watchedItem });
      head.append(" ", tap);
    }
    panel.replaceChildren(head, document.createElement("table"));
  }
  const table = panel.querySelector("table")!;
  table.replaceChildren();
  for (const line of [place ? `at ${place.toArray().map((x) => short(x)).join(", ")} m` : "it is gone", ...message.state]) table.insertRow().insertCell().textContent = line;
}

// --- Plots, parameters, log -------------------------------------------------------------------------
function openPlot(name: string) {
  if (plots.has(name)) return;
  const plot = new Plot(name, () => { plots.delete(name); plot.element.remove(); });
  plots.set(name, plot);
  $("plots").append(plot.element);
  const metric = hello?.metrics?.indexOf(name) ?? -1;
  if (metric >= 0) for (const point of history) plot.add(point[0], point[metric + 1]);
  plot.draw();
}

function addMetrics(points: number[][]) {
  for (const point of points) {
    if (history.length > 0 && point[0] <= history[history.length - 1][0]) continue;
    history.push(point);
    hello?.metrics?.forEach((name, i) => plots.get(name)?.add(point[0], point[i + 1]));
  }
  for (const plot of plots.values()) plot.draw();
}

function showMetricsList() {
  $("plots").querySelector("label")?.remove();
  if (!hello?.metrics) return;
  const label = document.createElement("label");
  label.append("Plot");
  const select = document.createElement("select");
  select.id = "metric";
  select.add(new Option("a metric …", ""));
  for (const name of hello.metrics) select.add(new Option(name, name));
  select.onchange = () => { if (select.value) openPlot(select.value); select.value = ""; };
  label.append(select);
  $("plots").prepend(label);
}

function field(name: string, value: string, choices: string[], change: (text: string) => void) {
  const label = document.createElement("label");
  label.append(name);
  const input = choices.length > 0 ? document.createElement("select") : document.createElement("input");
  if (input instanceof HTMLSelectElement) for (const choice of choices) input.add(new Option(choice, choice));
  else { input.type = "text"; input.placeholder = "unchanged"; }
  input.value = value;
  input.onchange = () => change(input.value);
  input.dataset.parameter = name;
  label.append(input);
  return label;
}

function showParameters() {
  const section = $("parameters");
  section.replaceChildren();
  if (!hello || hello.mode !== "run") return;
  if (hello.live && Object.keys(hello.live).length > 0) {
    section.append(Object.assign(document.createElement("h2"), { textContent: "Parameters of all modules" }));
    for (const [name, value] of Object.entries(hello.live)) section.append(field(name, value, [], (text) => connection.send({ type: "input", kind: "parameter", module: "", name, text })));
  }
  if (hello.parameters && hello.parameters.length > 0) {
    section.append(Object.assign(document.createElement("h2"), { textContent: "Experiment (a change restarts the run)" }));
    for (const parameter of hello.parameters) {
      const entry = field(parameter.name, parameter.value, parameter.choices, (text) => connection.send({ type: "reset", settings: { [parameter.name]: text } }));
      entry.title = parameter.about;
      section.append(entry);
    }
  }
}

function addLog(time: number, module: string, text: string) {
  const list = $("log").querySelector("ol")!;
  $("log").hidden = false;
  if (marks.length < MOST_MARKS) marks.push([time, module, text]);
  const item = document.createElement("li");
  const stamp = document.createElement("time");
  stamp.textContent = `${time.toFixed(2)} s`;
  item.append(stamp, module ? `${module}: ${text}` : text);
  if (hello?.mode === "replay") { item.style.cursor = "pointer"; item.onclick = () => seek(Math.round(time / hello!.dt)); }
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
  list.append(item);
  while (list.children.length > 500) list.firstElementChild!.remove();
  if (atEnd) list.scrollTop = list.scrollHeight;
}

// Marks on the time line: log lines of agents and inputs of people.
function drawMarks() {
  const canvas = $<HTMLCanvasElement>("marks");
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = 10 * devicePixelRatio;
  const g = canvas.getContext("2d")!;
  for (const [time, , text] of marks) {
    g.fillStyle = text.startsWith("input:") ? "#d9480f" : "#2463c9";
    g.fillRect(markPlace(time), 0, 2 * devicePixelRatio, canvas.height);
  }
}
const MOST_MARKS = 20_000;
function markPlace(time: number) {
  const first = (hello?.first_tick ?? 0) * (hello?.dt ?? 0), span = Math.max(1e-9, (hello?.ticks ?? 0) * (hello?.dt ?? 0) - first);
  return ((time - first) / span) * ($<HTMLCanvasElement>("marks").width - 2);
}
// The texts of the marks near the mouse.
$("marks").onmousemove = (event) => {
  const near = marks.filter(([time]) => Math.abs(markPlace(time) / devicePixelRatio - event.offsetX) < 4).slice(0, 8);
  $("marks").title = near.map(([time, module, text]) => `${time.toFixed(2)} s  ${module}: ${text}`).join("\n");
};

// --- A single robot ----------------------------------------------------------------------------------
function showRobot() {
  const section = $("robot");
  section.replaceChildren();
  section.hidden = hello?.mode !== "robot";
  if (!hello?.joints || !hello.docks) return;
  for (const [which, title] of ["Joints", "Joints of the copy"].entries()) {
    section.append(Object.assign(document.createElement("h3"), { textContent: title }));
    hello.joints.forEach((joint, index) => {
      if (!joint.moves) return;
      const label = document.createElement("label");
      const slider = Object.assign(document.createElement("input"), { type: "range", min: String(joint.lower), max: String(joint.upper), step: "0.001", value: "0" });
      const reading = Object.assign(document.createElement("span"), { textContent: "0" });
      slider.dataset.joint = `${which}.${joint.name}`;
      slider.oninput = () => {
        reading.textContent = `${short(Number(slider.value))} ${joint.unit}`;
        connection.send({ type: "joint", robot: which, joint: index, position: Number(slider.value) });
      };
      label.append(joint.name, slider, reading);
      section.append(label);
    });
  }
  section.append(Object.assign(document.createElement("h3"), { textContent: "Try docking" }));
  const choose = (id: string, name: string) => {
    const label = document.createElement("label");
    const select = Object.assign(document.createElement("select"), { id });
    select.add(new Option("none", "-1"));
    hello!.docks!.forEach((dock, i) => select.add(new Option(`${dock.name} (${dock.gender})`, String(i))));
    label.append(name, select);
    section.append(label);
    return select;
  };
  const a = choose("dock-a", "dock of the robot"), b = choose("dock-b", "dock of the copy");
  const turnLabel = document.createElement("label");
  const turn = Object.assign(document.createElement("input"), { type: "text", value: "0", id: "turn" });
  turnLabel.append("turn", turn);
  const says = Object.assign(document.createElement("p"), { id: "docking" });
  section.append(turnLabel, says);
  const send = () => {
    connection.send({ type: "dock", a: Number(a.value), b: Number(b.value), turn: Number(turn.value) || 0 });
    lookAgain = true;
  };
  a.onchange = b.onchange = turn.onchange = send;
}

// --- Buttons, keys, mouse ------------------------------------------------------------------------------
const toggle = () => connection.send({ type: state?.paused ? "play" : "pause" });
const seek = (tick: number) => connection.send({ type: "seek", tick });
let dragging = false;
$("play").onclick = toggle;
$("step").onclick = () => connection.send({ type: "step", ticks: 1 });
$("reset").onclick = () => connection.send({ type: "reset" });
$("speed").onchange = () => connection.send({ type: "speed", factor: Number($<HTMLSelectElement>("speed").value) });
$("home").onclick = () => stage.home();
$("time").oninput = () => { dragging = true; seek(Number($<HTMLInputElement>("time").value)); };
$("time").onchange = () => { dragging = false; };
$("follow").onchange = () => { stage.follow = $<HTMLInputElement>("follow").checked; };
for (const what of ["docks", "loads", "rays", "trails", "messages", "labels"] as const) {
  const box = $<HTMLInputElement>(`show-${what}`);
  box.onchange = () => {
    stage.show[what] = box.checked;
    if (what === "loads") $("legend").hidden = !box.checked;
    if (what === "rays") connection.send({ type: "rays", on: box.checked });
    if (what === "trails" && !box.checked) stage.forgetTrails();
    stage.redraw();
  };
}
const savePicture = () => {
  const link = document.createElement("a");
  link.href = stage.picture();
  link.download = `${(hello?.name ?? "volvox").replaceAll("/", "_")}-${stage.currentFrame()?.tick ?? 0}.png`;
  link.click();
};
$("picture").onclick = savePicture;

// --- Panel, theme, keys --------------------------------------------------------------------------------
const narrow = matchMedia("(max-width: 700px)");
function showSide(yes: boolean) {
  $("side").hidden = !yes;
  $("panel").setAttribute("aria-expanded", String(yes));
  for (const plot of plots.values()) plot.draw();
}
showSide(!narrow.matches);
narrow.onchange = () => showSide(!narrow.matches);
$("panel").onclick = () => { showSide($("side").hidden); stage.home(); };
$("legend").querySelector("i")!.style.background = loadGradient();

// What the panels cover: beside or, on a narrow page, above the bar.
stage.inset = () => {
  const side = $("side"), page = document.documentElement, shown = !side.hidden && [...side.children].some((child) => child.clientHeight > 0);
  const bar = page.clientHeight - document.querySelector("footer")!.getBoundingClientRect().top;
  const covered = { left: 0, top: document.querySelector("header")!.getBoundingClientRect().bottom, right: 0, bottom: bar };
  if (shown && narrow.matches) covered.bottom = page.clientHeight - side.getBoundingClientRect().top;
  else if (shown) covered.right = page.clientWidth - side.getBoundingClientRect().left;
  return covered;
};
new ResizeObserver(([bar]) => document.documentElement.style.setProperty("--bar", `${bar.target.clientHeight}px`)).observe(document.querySelector("footer")!);

// Dark or light as the system says, until a person chooses.
const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => { try { return localStorage.getItem("volvox theme"); } catch { return null; } };  // a browser may forbid it
const isDark = () => (chosen() ?? (dark.matches ? "dark" : "light")) === "dark";
function applyTheme() {
  document.documentElement.style.colorScheme = isDark() ? "dark" : "light";
  stage.setTheme(isDark() ? "dark" : "light");
  for (const plot of plots.values()) plot.draw();
}
function switchTheme() {
  try { localStorage.setItem("volvox theme", isDark() ? "light" : "dark"); } catch { /* then it follows the system */ }
  applyTheme();
}
dark.onchange = applyTheme;
applyTheme();
$("theme").onclick = switchTheme;

const help = $<HTMLDialogElement>("help");
const showHelp = () => (help.open ? help.close() : help.showModal());
$("show-help").onclick = showHelp;
help.onclick = (event) => { if (event.target === help) help.close(); };  // beside it

const KEYS: [key: string, shown: string, does: string, action: () => void][] = [
  [" ", "Space", "run or pause", toggle],
  [".", ".", "one tick", () => $("step").click()],
  ["h", "H", "home: show everything", () => stage.home()],
  ["f", "F", "follow the selected module", () => $("follow").click()],
  ["l", "L", "labels", () => $("show-labels").click()],
  ["p", "P", "save a picture", savePicture],
  ["s", "S", "side panel", () => $("panel").click()],
  ["d", "D", "dark or light", switchTheme],
  ["?", "?", "this help", showHelp],
  ["Escape", "Esc", "select nothing", () => { watch(-1); if (stage.cloud.info) watchItem(-1); }],
];
const MOUSE = [["Click", "select a module"], ["Drag", "turn the view"], ["Right drag", "move the view"], ["Wheel", "zoom"]];
for (const [shown, does] of [...KEYS.map(([, shown, does]) => [shown, does]), ...MOUSE]) {
  const row = help.querySelector("table")!.insertRow();
  row.insertCell().append(Object.assign(document.createElement("kbd"), { textContent: shown }));
  row.insertCell().textContent = does;
}

// A control that was clicked gives the keys back; who moves with the tab key keeps the focus.
let byPointer = false;
addEventListener("pointerdown", () => { byPointer = true; }, true);
for (const event of ["click", "change"])
  addEventListener(event, ({ target }) => {
    const typing = target instanceof HTMLInputElement && target.type === "text";
    const opening = target instanceof HTMLSelectElement && event === "click";
    if (byPointer && !typing && !opening && document.activeElement instanceof HTMLElement) document.activeElement.blur();
  });
addEventListener("keydown", (event) => {
  byPointer = false;
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type === "text")) return;
  if (event.key === " " && (target instanceof HTMLButtonElement || target instanceof HTMLInputElement)) return;  // it presses the control
  const found = KEYS.find(([key]) => key === (event.key.length === 1 ? event.key.toLowerCase() : event.key));
  if (found) { event.preventDefault(); found[3](); }
});
addEventListener("resize", drawMarks);
let pressed: [number, number] = [0, 0];
$("stage").addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
$("stage").addEventListener("pointerup", (event) => {
  if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4) return;  // the mouse was dragged, which orbits the camera
  const module = stage.pick(event.offsetX, event.offsetY);
  watch(module);
  if (stage.cloud.info) watchItem(module >= 0 ? -1 : stage.pickItem(event.offsetX, event.offsetY));
});

// For tests in a browser.
Object.assign(window, { volvox: { stage, connection, plots, THREE, state: () => state, watched: () => watched } });
