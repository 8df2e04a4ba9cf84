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
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM, headless: true, timeout: 120_000,
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});
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

async function open(address) {
  const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error" && !/WebSocket|ERR_CONNECTION/.test(message.text())) page.complaints.push(message.text()); });
  await page.goto(address, patience);
  await page.waitForFunction(() => window.volvox?.stage.currentFrame() && window.volvox.stage.frames > 1 && window.volvox.state(), null, patience);
  return page;
}
const tick = (page) => page.evaluate(() => window.volvox.stage.currentFrame().tick);

// The number of pixels that the modules cover: those that change when the modules are hidden.
const covered = (page) => page.evaluate(async () => {
  const { stage } = window.volvox;
  const pixels = async () => {
    const image = new Image();
    image.src = stage.picture();
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), g = canvas.getContext("2d");
    g.drawImage(image, 0, 0);
    return g.getImageData(0, 0, image.width, image.height).data;
  };
  const world = stage.scene.children.find((child) => child.isGroup && child.children.some((c) => c.isInstancedMesh));
  const shown = await pixels();
  world.visible = false;
  const hidden = await pixels();
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
