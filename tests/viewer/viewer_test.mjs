// The viewer in a real browser: Debian's headless Chromium, which draws with llvmpipe.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const require = createRequire(join(process.env.VOLVOX_ROOT, "web", "package.json"));
const { chromium } = require("playwright-core");
const patience = { timeout: 60_000 };
let folder, browser;
const children = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "volvox-viewer-"));
  browser = await launch("gl-egl");
});
function launch(angle) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM, headless: true, timeout: 120_000,
    args: ["--no-sandbox", "--use-gl=angle", `--use-angle=${angle}`, "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}
after(async () => {
  for (const child of children) child.kill("SIGKILL");
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Starts a volvox that serves a viewer; `end` stops it like Ctrl-C and returns its exit status.
async function serve(...args) {
  const child = spawn(process.env.VOLVOX, [...args, "--no-browser"], { cwd: folder });
  children.push(child);
  let said = "";
  const address = await new Promise((resolve, reject) => {
    child.stderr.on("data", (data) => {
      said += data;
      const found = said.match(/http:\S+/);
      if (found) resolve(found[0]);
    });
    child.on("exit", (status) => reject(new Error(`volvox ended with ${status}: ${said}`)));
  });
  return {
    address, child,
    end: () => new Promise((resolve) => { child.removeAllListeners("exit"); child.on("exit", (status) => resolve(status)); child.kill("SIGINT"); }),
  };
}

async function open(address, options = {}, by = browser) {
  const page = await by.newPage({ viewport: { width: 900, height: 600 }, ...options });
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error" && !/WebSocket|ERR_CONNECTION/.test(message.text())) page.complaints.push(message.text()); });
  await page.addInitScript(() => { window.pixels = async () => {  // of the stage, as it is drawn now
    const image = new Image();
    image.src = window.volvox.stage.picture();
    await image.decode();
    const g = new OffscreenCanvas(image.width, image.height).getContext("2d");
    g.drawImage(image, 0, 0);
    return g.getImageData(0, 0, image.width, image.height).data;
  }; });
  await page.goto(address, patience);
  await page.waitForFunction(() => window.volvox?.stage.currentFrame() && window.volvox.stage.frames > 1 && window.volvox.state(), null, patience);
  return page;
}
const waitFor = (page, condition, argument = null) => page.waitForFunction(condition, argument, patience);
const tick = (page) => page.evaluate(() => window.volvox.stage.currentFrame().tick);

// The number of pixels that the modules cover: those that change when the modules are hidden.
const covered = (page) => page.evaluate(async () => {
  const { stage } = window.volvox;
  const world = stage.scene.children.find((child) => child.isGroup && child.children.some((c) => c.isInstancedMesh));
  const shown = await window.pixels();
  world.visible = false;
  const hidden = await window.pixels();
  world.visible = true;
  let count = 0;
  for (let i = 0; i < shown.length; i += 4) if (Math.abs(shown[i] - hidden[i]) + Math.abs(shown[i + 1] - hidden[i + 1]) + Math.abs(shown[i + 2] - hidden[i + 2]) > 24) ++count;
  return count;
});

// The position of a module on the page.
const placeOf = (page, placement) => page.evaluate((placement) => {
  const { stage } = window.volvox;
  const seen = stage.place(placement).project(stage.camera), canvas = stage.renderer.domElement;
  return [((seen.x + 1) / 2) * canvas.clientWidth, ((1 - seen.y) / 2) * canvas.clientHeight];
}, placement);

test("a page that stands alone plays and scrubs without a server", async () => {
  execFileSync(process.env.VOLVOX, ["run", "remod3d/snake", "--set", "modules=4", "--duration", "2", "--record", "--quiet", "--out", join(folder, "alone")]);
  const file = join(folder, "alone.html");
  execFileSync(process.env.VOLVOX, ["export", join(folder, "alone"), "--page", file, "--every", "4"]);
  // In a frame, as notebooks show it.
  writeFileSync(join(folder, "notebook.html"), `<iframe sandbox="allow-scripts" style="width:880px;height:560px" srcdoc="${readFileSync(file, "utf8").replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe>`);
  const page = await open(`file://${file}`), requests = [];
  page.on("request", (request) => requests.push(request.url()));
  assert.equal(await tick(page), 0);
  assert.ok(await covered(page) > 500);
  await page.locator("#time").fill("61");
  assert.equal(await tick(page), 60, "the last that is shown before it");
  await page.locator("#time").fill("120");
  assert.equal(await tick(page), 120);
  await page.locator("#time").fill("8");
  await page.locator("#step").click();
  assert.equal(await tick(page), 12);
  await page.locator("#play").click();
  await waitFor(page, () => window.volvox.state().paused && window.volvox.stage.currentFrame().tick === 120);
  await page.evaluate(() => window.volvox.connection.send({ type: "watch", module: "s1" }));
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(requests, []);
  await page.close();
  const notebook = await browser.newPage({ viewport: { width: 900, height: 600 } });
  await notebook.goto(`file://${join(folder, "notebook.html")}`, patience);
  const frame = notebook.frames()[1];
  await frame.waitForFunction(() => window.volvox?.stage.frames > 1, null, patience);
  await frame.locator("#time").fill("40");
  assert.equal(await frame.evaluate(() => window.volvox.stage.currentFrame().tick), 40);
  await notebook.close();
});

test("a run: drawn, paused, stepped, picked, driven, plotted, reconnected, recorded", async () => {
  const volvox = await serve("run", "remod3d/snake", "--set", "modules=4", "--duration", "600", "--view", "--record", "--out", "results", "--quiet");
  const page = await open(volvox.address);
  assert.match(await page.title(), /remod3d\/snake/);
  assert.ok((await covered(page)) > 2000, "modules are drawn");
  await page.waitForFunction(() => window.volvox.stage.currentFrame().tick > 5, null, patience);

  await page.click("#play");
  await page.waitForFunction(() => window.volvox.state().paused, null, patience);
  const paused = await tick(page);
  await page.waitForTimeout(400);
  assert.equal(await tick(page), paused, "paused");
  await page.click("#step");
  await page.waitForFunction((before) => window.volvox.stage.currentFrame().tick === before + 1, paused, patience);

  // Pick the module in the middle of the picture by clicking on it.
  await page.mouse.click(...(await placeOf(page, 2)));
  await page.waitForFunction(() => !document.getElementById("module").hidden, null, patience);
  const panel = await page.textContent("#module");
  for (const words of ["pitch.angle", "Docks", "front", "Actions"]) assert.ok(panel.includes(words), `${words} in ${panel}`);

  await page.click("#module tr.plottable");
  await page.click("#step");
  await page.click("#step");
  await page.waitForFunction(() => [...window.volvox.plots.values()].some((plot) => plot.points >= 2), null, patience);
  await page.selectOption("#metric", "kinetic_energy_J");
  await page.waitForFunction(() => window.volvox.plots.get("kinetic_energy_J")?.points > 0, null, patience);

  // Change a parameter of all modules: it takes effect at the next tick and is counted as an input.
  await page.fill('#parameters [data-parameter="amplitude"]', "0.5");
  await page.press('#parameters [data-parameter="amplitude"]', "Enter");
  await page.click("#step");
  await page.waitForFunction(() => window.volvox.state().inputs === 1, null, patience);
  await page.waitForFunction(() => /input: parameter amplitude 0.5/.test(document.getElementById("log").textContent), null, patience);
  // It is marked on the time line.
  await page.waitForFunction(() => {
    const marks = document.getElementById("marks");
    return marks.getContext("2d").getImageData(0, 0, marks.width, marks.height).data.some((value) => value > 0);
  }, null, patience);
  await page.click("#play");
  await page.waitForFunction(() => !window.volvox.state().paused, null, patience);
  // While it runs, the module panel changes ten times per second and can still be clicked.
  await page.click("#module tr.plottable >> nth=2", patience);

  const before = await tick(page);
  await page.evaluate(() => window.volvox.connection.drop());
  await page.waitForFunction(() => !window.volvox.connection.connected, null, patience);
  await page.waitForFunction((t) => window.volvox.connection.connected && window.volvox.stage.currentFrame()?.tick > t, before, patience);

  // Invalid messages, which only a faulty client sends, are ignored.
  await page.evaluate(() => { for (const text of ["", "[]", "{", '{"type":7}', '{"type":"step","ticks":"x"}', '{"type":"input","kind":"push","module":"nobody"}', '{"type":"speed","factor":1e99}', '{"type":"reset","settings":{"modules":"-5"}}']) window.volvox.connection.socket.send(text); });
  await page.waitForFunction(() => window.volvox.stage.currentFrame()?.tick >= 0, null, patience);
  assert.deepEqual(page.complaints, []);
  await page.close();
  assert.equal(await volvox.end(), 0);

  const verified = JSON.parse(execFileSync(process.env.VOLVOX, ["replay", "results", "--verify", "--json", "--quiet"], { cwd: folder }));
  assert.equal(verified.same, true);
  assert.equal(verified.complete, true);
});

test("a replay scrubs", async () => {
  execFileSync(process.env.VOLVOX, ["run", "remod3d/snake", "--set", "modules=4", "--duration", "2", "--record", "--quiet", "--out", "again"], { cwd: folder });
  const volvox = await serve("replay", "again");
  const page = await open(volvox.address);
  assert.ok((await covered(page)) > 2000);
  for (const wanted of [100, 7, 60]) {
    await page.evaluate((value) => { const time = document.getElementById("time"); time.value = String(value); time.dispatchEvent(new Event("input")); time.dispatchEvent(new Event("change")); }, wanted);
    await page.waitForFunction((value) => window.volvox.stage.currentFrame().tick >= value && window.volvox.stage.currentFrame().tick < value + 40, wanted, patience);
  }
  // A replay also has the module's mind.
  await page.mouse.click(...(await placeOf(page, 2)));
  await page.waitForFunction(() => /accelerometer/.test(document.getElementById("module").textContent), null, patience);
  const panel = await page.textContent("#module");
  for (const words of ["Joints", "pitch.torque", "Percepts", "front.dock.engaged", "Actions", "Docks"]) assert.ok(panel.includes(words), `${words} in ${panel}`);
  if (await page.evaluate(() => window.volvox.state().paused)) await page.click("#play");  // it may already have ended
  await page.waitForFunction(() => window.volvox.state().ended && window.volvox.stage.currentFrame().tick === 120, null, patience);
  assert.deepEqual(page.complaints, []);
  await page.close();
  assert.equal(await volvox.end(), 0);
});

test("a robot alone moves its joints and docks with its copy", async () => {
  const volvox = await serve("view", "superbot");
  const page = await open(volvox.address);
  assert.ok((await covered(page)) > 2000);
  const head = () => page.evaluate(() => [...window.volvox.stage.currentFrame().links.slice(3 * 7, 4 * 7)]);
  const straight = await head();
  await page.evaluate(() => { const slider = document.querySelector('[data-joint="0.pitch"]'); slider.value = "1"; slider.dispatchEvent(new Event("input")); });
  await page.waitForFunction((old) => Math.abs(window.volvox.stage.currentFrame().links[3 * 7 + 4] - old) > 0.1, straight[4], patience);
  await page.selectOption("#dock-a", { index: 1 });
  await page.selectOption("#dock-b", { index: 4 });
  await page.waitForFunction(() => window.volvox.state().docked, null, patience);
  assert.match(await page.textContent("#docking"), /front.*back/);
  assert.match(await page.textContent("#labels"), /robot\.front/);
  assert.deepEqual(page.complaints, []);
  await page.close();
  assert.equal(await volvox.end(), 0);
});

// The viewer and the picture engine draw the same robot: seen from the same point, the covered pixels overlap. An
// all-magenta SuperBot can be told from ground, sky and shadow.
test("the silhouette is that of volvox picture", async (context) => {
  const robot = join(folder, "superbot", "superbot.sdf"), eye = [0.5, -0.55, 0.35], target = [0, 0, 0.05];
  cpSync(join(process.env.VOLVOX_ROOT, "robots", "superbot"), join(folder, "superbot"), { recursive: true });
  writeFileSync(robot, readFileSync(robot, "utf8").replaceAll(/<diffuse>[^<]*<.diffuse>/g, "<diffuse>1 0 1 1</diffuse>"));
  try {
    execFileSync(process.env.VOLVOX, ["picture", robot, "--at", "0.5", "--size", "900x600", "--docks", "none", "--camera", `${eye}:${target}`, "-o", "picture.png"], { cwd: folder, stdio: "pipe" });
  } catch (error) {
    if (!/render/.test(String(error.stderr))) throw error;
    return context.skip("this build has no picture engine");
  }
  const volvox = await serve("run", robot, "--view", "--out", "one", "--duration", "100", "--quiet");
  const page = await open(volvox.address);
  await page.waitForFunction(() => window.volvox.stage.currentFrame().time >= 0.5, null, patience);
  const picture = readFileSync(join(folder, "picture.png")).toString("base64");
  const overlap = await page.evaluate(async ([picture, eye, target]) => {
    const { stage, THREE } = window.volvox;
    stage.look(new THREE.Vector3(...eye), new THREE.Vector3(...target));
    stage.show.docks = false;
    const magenta = async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(900, 600), g = canvas.getContext("2d");
      g.drawImage(image, 0, 0, 900, 600);
      const p = g.getImageData(0, 0, 900, 600).data;
      return (i) => Math.min(p[i], p[i + 2]) - p[i + 1] > 25;
    };
    const viewer = await magenta(stage.picture()), drawn = await magenta(`data:image/png;base64,${picture}`);
    let both = 0, either = 0;
    for (let i = 0; i < 900 * 600 * 4; i += 4) { both += viewer(i) && drawn(i); either += viewer(i) || drawn(i); }
    return { both, either };
  }, [picture, eye, target]);
  context.diagnostic(`overlap ${overlap.both} / ${overlap.either} = ${(overlap.both / overlap.either).toFixed(3)}`);
  assert.ok(overlap.both > 5000, JSON.stringify(overlap));
  assert.ok(overlap.both / overlap.either >= 0.9, JSON.stringify(overlap));
  await page.close();
  assert.equal(await volvox.end(), 0);
});

test("keys work after clicks, and say what they do", async () => {
  const volvox = await serve("run", "remod3d/snake", "--set", "modules=4", "--duration", "600", "--view", "--paused", "--out", "keys", "--quiet");
  const page = await open(volvox.address);
  const ticksAfter = async (what) => {
    const before = await tick(page);
    await page.keyboard.press(".");
    await waitFor(page, (t) => window.volvox.stage.currentFrame().tick === t + 1, before).catch(() => assert.fail(`the key . is dead after ${what}`));
  };
  await ticksAfter("nothing");
  for (const id of ["home", "step", "show-labels", "show-trails", "show-rays", "follow", "theme", "panel"]) {
    const before = await tick(page);
    await page.click(`#${id}`);
    if (id === "step") await waitFor(page, (t) => window.volvox.stage.currentFrame().tick === t + 1, before);
    await ticksAfter(id);
  }
  await page.click("#panel");
  await page.selectOption("#speed", "2");
  await ticksAfter("speed");
  await page.click("#home");
  await page.keyboard.press("Space");
  await waitFor(page, () => !window.volvox.state().paused);
  await page.keyboard.press("Space");
  await waitFor(page, () => window.volvox.state().paused);
  // What is typed into a field is text, and the browser's own keys stay its own.
  const before = await tick(page);
  await page.fill('#parameters [data-parameter="amplitude"]', "0");
  await page.keyboard.type(".5");
  assert.equal(await page.inputValue('#parameters [data-parameter="amplitude"]'), "0.5");
  assert.equal(await tick(page), before);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  assert.match(await page.textContent("#help[open]"), /Space.*run or pause.*H.*home/s);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.getElementById("help").open), false);
  // With the tab key one reaches a button, and the space bar presses it.
  await page.focus("#step");
  await page.keyboard.press("Space");
  await waitFor(page, (t) => window.volvox.stage.currentFrame().tick === t + 1, before);
  assert.deepEqual(page.complaints, []);
  await page.close();
  assert.equal(await volvox.end(), 0);
});

test("labels stay with modules, loads are seen, home is not covered", async () => {
  const volvox = await serve("run", "remod3d/snake", "--set", "modules=4", "--duration", "600", "--view", "--out", "look", "--quiet");
  const page = await open(volvox.address);
  await waitFor(page, () => window.volvox.stage.currentFrame().tick > 5);
  await page.click("#play");
  await waitFor(page, () => window.volvox.state().paused);
  // Every module is where the canvas itself can be clicked.
  const free = () => page.evaluate(() => {
    const { stage } = window.volvox;
    stage.home();
    stage.picture();
    const canvas = stage.renderer.domElement;
    return stage.data.info.things.flatMap((thing, i) => {
      if (!thing.module) return [];
      const seen = stage.place(i).project(stage.camera);
      return [document.elementFromPoint(((seen.x + 1) / 2) * canvas.clientWidth, ((1 - seen.y) / 2) * canvas.clientHeight)?.id ?? "outside"];
    });
  });
  assert.deepEqual(await free(), Array(4).fill("stage"));

  // A module that the camera follows jumps: its label is where it is drawn.
  await page.click("#show-labels");
  const apart = await page.evaluate(() => {
    const { stage } = window.volvox, frame = stage.currentFrame(), links = frame.links.slice();
    const shown = stage.data.info.things.findIndex((thing) => thing.module);
    stage.picked = shown;
    stage.follow = true;
    stage.picture();
    for (let i = 0; i < links.length; i += 7) links[i] += 0.3;
    stage.update({ ...frame, links });
    stage.picture();
    const name = stage.data.info.things[shown].name, canvas = stage.renderer.domElement, seen = stage.place(shown).project(stage.camera);
    const label = [...document.querySelectorAll("#labels span")].find((span) => !span.hidden && span.textContent === name);
    return Math.hypot(((seen.x + 1) / 2) * canvas.clientWidth - parseFloat(label.style.left), ((1 - seen.y) / 2) * canvas.clientHeight - parseFloat(label.style.top));
  });
  assert.ok(apart < 1, `${apart} pixels apart`);
  await page.evaluate(() => { window.volvox.stage.follow = false; window.volvox.stage.picked = -1; });

  // Loads colour the links: the snake's pixels change, and most of them are blue, the colour of little load.
  const loads = await page.evaluate(async () => {
    const { stage } = window.volvox;
    stage.home();
    const plain = await window.pixels();
    document.getElementById("show-loads").click();
    const loaded = await window.pixels();
    document.getElementById("show-loads").click();
    const again = await window.pixels();
    let blue = 0, left = 0;
    for (let i = 0; i < plain.length; i += 4) {
      if (plain[i + 2] - plain[i] < 40 && loaded[i + 2] - loaded[i] > 40) ++blue;
      if (Math.abs(plain[i] - again[i]) > 8) ++left;
    }
    return { blue, left };
  });
  assert.ok(loads.blue > 2000, JSON.stringify(loads));
  assert.equal(loads.left, 0, "and the colours come back");
  assert.deepEqual(page.complaints, []);
  await page.close();

  // A phone: the panel is closed, and opened it covers neither the title nor what Home shows.
  const phone = await open(volvox.address, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  assert.equal(await phone.isVisible("#side"), false);
  await phone.tap("#panel");
  assert.equal(await phone.isVisible("#side"), true);
  const [title, side, bar] = await phone.evaluate(() => ["header", "#side", "footer"].map((what) => document.querySelector(what).getBoundingClientRect().toJSON()));
  assert.ok(title.bottom <= side.top && side.bottom <= bar.top && bar.bottom <= 844 && title.right <= 390 && side.right <= 390 && bar.right <= 390, JSON.stringify([title, side, bar]));
  const seen = await phone.evaluate(() => {
    const { stage } = window.volvox, canvas = stage.renderer.domElement;
    stage.picture();
    return stage.data.info.things.flatMap((thing, i) => {
      const at = stage.place(i).project(stage.camera);
      return thing.module ? [document.elementFromPoint(((at.x + 1) / 2) * canvas.clientWidth, ((1 - at.y) / 2) * canvas.clientHeight)?.id] : [];
    });
  });
  assert.deepEqual(seen, Array(4).fill("stage"));
  assert.deepEqual(phone.complaints, []);
  await phone.close();
  assert.equal(await volvox.end(), 0);
});

test("dark if the system is, or if a person chooses it", async () => {
  const volvox = await serve("view", "superbot");
  const brightness = (page) => page.evaluate(() => {
    const { stage } = window.volvox, paper = getComputedStyle(document.querySelector("button")).backgroundColor.match(/\d+/g).map(Number);
    return { sky: stage.scene.background.getHSL({}).l, paper: paper[0] / 255 };
  });
  for (const [colorScheme, dark] of [["light", false], ["dark", true]]) {
    const page = await open(volvox.address, { colorScheme });
    const is = (dark) => ({ sky, paper }) => assert.ok(dark ? sky < 0.2 && paper < 0.3 : sky > 0.6 && paper > 0.7, JSON.stringify({ dark, sky, paper }));
    is(dark)(await brightness(page));
    await page.keyboard.press("d");
    is(!dark)(await brightness(page));
    await page.reload();
    await waitFor(page, () => window.volvox?.stage.currentFrame());
    is(!dark)(await brightness(page));
    await page.close();
  }
  assert.equal(await volvox.end(), 0);
});

// SwiftShader, with which Chromium draws where there is no graphics driver, drops long lines.
test("the lines on the ground are whole under SwiftShader", async (context) => {
  const swift = await launch("swiftshader");
  const volvox = await serve("run", "remod3d/snake", "--set", "modules=4", "--duration", "600", "--view", "--paused", "--out", "swift", "--quiet");
  try {
    const page = await open(volvox.address, {}, swift);
    const lines = await page.evaluate(async () => {
      const { stage, THREE } = window.volvox;
      stage.look(new THREE.Vector3(2.6, -3.4, 2.2), new THREE.Vector3(0, 0, 0));
      const image = new Image();
      image.src = stage.picture();
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height), g = canvas.getContext("2d");
      g.drawImage(image, 0, 0);
      const { data, width, height } = g.getImageData(0, 0, image.width, image.height);
      const dark = (x, y) => data[(y * width + x) * 4];
      let points = 0, drawn = 0;
      for (let line = -3; line <= 3; ++line)
        for (let along = -3.05; along <= 3; along += 0.3)
          for (const [x, y] of [[line, along], [along, line]]) {
            if (Math.hypot(x, y) < 1) continue;  // the snake and its shadow
            const seen = new THREE.Vector3(x, y, 0).project(stage.camera), px = Math.round(((seen.x + 1) / 2) * width), py = Math.round(((1 - seen.y) / 2) * height);
            if (px < 6 || py < 6 || px >= width - 6 || py >= height - 6) continue;
            ++points;
            let darkest = 255, brightest = 0;
            for (let i = -5; i <= 5; ++i) for (let j = -5; j <= 5; ++j) brightest = Math.max(brightest, dark(px + i, py + j));
            for (let i = -1; i <= 1; ++i) for (let j = -1; j <= 1; ++j) darkest = Math.min(darkest, dark(px + i, py + j));
            if (brightest - darkest > 40) ++drawn;
          }
      return { points, drawn, renderer: stage.renderer.getContext().getParameter(stage.renderer.getContext().getExtension("WEBGL_debug_renderer_info").UNMASKED_RENDERER_WEBGL) };
    });
    context.diagnostic(JSON.stringify(lines));
    if (!/swiftshader/i.test(lines.renderer)) return context.skip(`this Chromium has no SwiftShader: ${lines.renderer}`);
    assert.ok(lines.points > 50 && lines.drawn === lines.points, JSON.stringify(lines));
    assert.deepEqual(page.complaints, []);
  } finally {
    await swift.close();
    assert.equal(await volvox.end(), 0);
  }
});

test("water is a surface that is seen through the walls of its tank, and goes with a cut", async () => {
  const server = await serve("run", "remod3d/fluid", "--set", "spacing=0.05", "--duration", "1", "--view", "--out", join(folder, "water"));
  const page = await open(server.address);
  await waitFor(page, () => window.volvox.stage.cloud.count > 1000 && window.volvox.stage.water.count === window.volvox.stage.cloud.count);
  await waitFor(page, () => window.volvox.stage.currentFrame().tick >= 20);
  await page.evaluate(() => window.volvox.connection.send({ type: "pause" }));
  // How many pixels are bluer with the water than without it, and how many colours they have.
  const seen = await page.evaluate(async () => {
    const { stage } = window.volvox, { water } = stage;
    await new Promise((resolve) => setTimeout(resolve, 500));
    const wet = await window.pixels(), count = water.count;
    water.placed(0);
    const dry = await window.pixels();
    water.placed(count);
    let pixels = 0;
    const colors = new Set();
    for (let i = 0; i < wet.length; i += 4) {
      if (wet[i + 2] - wet[i] - (dry[i + 2] - dry[i]) < 12) continue;
      ++pixels;
      colors.add((wet[i] >> 3) * 1024 + (wet[i + 1] >> 3) * 32 + (wet[i + 2] >> 3));
    }
    return { pixels, colors: colors.size, all: wet.length / 4 };
  });
  // How much of the picture it fills depends on the tick that is shown: 1 to 5 %.
  assert.ok(seen.pixels > 0.005 * seen.all, JSON.stringify(seen));
  assert.ok(seen.colors > 20, JSON.stringify(seen));
  const all = await page.evaluate(() => window.volvox.stage.water.count);
  await page.evaluate(() => { const { stage } = window.volvox; stage.cut({ axis: 0, at: 0.3 }); });
  await waitFor(page, (all) => { window.volvox.stage.picture(); return window.volvox.stage.water.count > 0 && window.volvox.stage.water.count < all; }, all);
  assert.deepEqual(page.complaints, []);
  await page.close();
  await server.end();
});

test("a cloud of catoms: its state, colours by a value, a cut, and taps", async () => {
  writeFileSync(join(folder, "tap.meld"), "type distance(node, min int).\ntype taps(node, int).\nnode2int(A) = 0 -o !distance(A, 0).\n" +
    "!distance(A, N), !neighbor(A, B, _) -o !distance(B, N + 1).\ntap(A) -o !taps(A, 7), !setColor(A, 255, 0, 0).\n");
  const volvox = await serve("run", "tap.meld", "--cells", "8x8x8", "--view", "--duration", "60");
  const page = await open(volvox.address);
  await waitFor(page, () => window.volvox.stage.cloud.count === 512);
  assert.equal(await page.evaluate(() => window.volvox.stage.cloud.shown()), 512 - 216);  // the inside is not drawn
  await page.selectOption("#cut", "0");
  await waitFor(page, () => window.volvox.stage.cloud.shown() > 0 && window.volvox.stage.cloud.shown() < 296);
  const cut = await page.evaluate(() => window.volvox.stage.cloud.shown());
  assert.equal(cut, 4 * 28 + 2 * 36);  // four layers of eight: their borders, one end, and the layer at the cut
  await page.selectOption("#cut", "-1");
  await page.selectOption("#color-by", "distance");
  await waitFor(page, () => !document.querySelector("#color-legend").hidden && document.querySelector("#color-legend").textContent.includes("21"));
  await waitFor(page, () => window.volvox.stage.cloud.color(511) === "#fde725" && window.volvox.stage.cloud.color(0) === "#440154");
  await page.selectOption("#color-by", "");
  // The middle of the picture is the corner of the cube that is nearest to the eye, about. On a busy machine a click may
  // come between two frames of a picture that still moves, and miss.
  for (let clicks = 1; ; ++clicks) {
    const { x, y } = await page.evaluate(() => {
      const { stage, THREE } = window.volvox, at = stage.cloud.place(511, new THREE.Vector3()).project(stage.camera), canvas = document.querySelector("#stage");
      return { x: ((at.x + 1) / 2) * canvas.clientWidth, y: ((1 - at.y) / 2) * canvas.clientHeight };
    });
    await page.mouse.click(x, y);
    if (await page.waitForSelector("#item table tr", { timeout: 10000 }).then(() => true, () => false)) break;
    assert.ok(clicks < 6, "six clicks show nothing of the catom");
  }
  await waitFor(page, () => /distance\(\d+\)/.test(document.querySelector("#item").textContent));
  await page.click("#tap");
  await waitFor(page, () => document.querySelector("#item").textContent.includes("taps(7)"));
  const item = await page.evaluate(() => window.volvox.stage.pickedItem);
  await waitFor(page, (i) => window.volvox.stage.cloud.color(i) === "#ff0000", item);
  assert.deepEqual(page.complaints, []);
  await page.close();
  await volvox.end();
});

test("catoms of a recording are shown as they were", async () => {
  execFileSync(process.env.VOLVOX, ["run", "dprsim/flood", "--set", "side=8", "--set", "filled=1", "--duration", "0.5", "--record", "--quiet", "--out", join(folder, "flooded")], { cwd: folder });
  const volvox = await serve("replay", join(folder, "flooded"));
  const page = await open(volvox.address);
  await waitFor(page, () => window.volvox.stage.cloud.count === 512);
  const at = async (wanted) => {
    await page.evaluate((t) => { window.volvox.connection.send({ type: "pause" }); window.volvox.connection.send({ type: "seek", tick: t }); }, wanted);
    await waitFor(page, (t) => window.volvox.stage.currentFrame().tick === t, wanted);
    return page.evaluate(() => { const { cloud } = window.volvox.stage; return new Set(Array.from({ length: 512 }, (_, i) => cloud.color(i))).size; });
  };
  const late = await at(20), early = await at(2);
  assert.ok(late > 10 && early === 3, `${late} and ${early} colours`);  // grey, the source and its neighbours
  assert.deepEqual(page.complaints, []);
  await page.close();
  await volvox.end();
});
