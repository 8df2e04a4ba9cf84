// The viewer as a person sees it: node docs/pictures/screenshot.mjs VOLVOX FILE.jpg, after ./start.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const { chromium } = createRequire(join(root, "web", "package.json"))("playwright-core");
const [program, file] = process.argv.slice(2);
const patience = { timeout: 60_000 };
const results = mkdtempSync(join(tmpdir(), "volvox-screenshot-"));
const volvox = spawn(resolve(program), ["run", "remod3d/snake", "--set", "modules=8", "--duration", "120", "--view", "--no-browser", "--quiet", "--out", results]);
const address = await new Promise((found) => { let said = ""; volvox.stderr.on("data", (data) => { said += data; const match = said.match(/http:\S+/); if (match) found(match[0]); }); });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
await page.goto(address);
await page.waitForFunction(() => window.volvox?.stage.currentFrame()?.tick > 60, null, patience);
await page.evaluate(() => { const { stage, THREE } = window.volvox; stage.look(new THREE.Vector3(-0.1, -2.7, 1.2), new THREE.Vector3(-0.45, 0.1, 0)); });
await page.click("#play");  // a robot that stands still is easier to click on
await page.waitForFunction(() => window.volvox.state().paused, null, patience);
await page.waitForTimeout(500);
const module = await page.evaluate(() => {
  const { stage } = window.volvox, seen = stage.place(5).project(stage.camera), canvas = stage.renderer.domElement;
  return [((seen.x + 1) / 2) * canvas.clientWidth, ((1 - seen.y) / 2) * canvas.clientHeight];
});
await page.mouse.click(...module);
await page.waitForFunction(() => !document.getElementById("module").hidden, null, patience);
await page.click("#play");
await page.click("#module tr.plottable >> nth=6");
await page.selectOption("#metric", "kinetic_energy_J");
await page.fill('#parameters [data-parameter="amplitude"]', "0.5");
await page.press('#parameters [data-parameter="amplitude"]', "Enter");
await page.evaluate(() => { document.activeElement.blur(); document.getElementById("side").scrollTop = 0; });
await page.waitForFunction(() => window.volvox.stage.currentFrame()?.tick > 500, null, patience);
await page.evaluate(() => { const { stage, connection } = window.volvox; connection.send({ type: "pause" }); stage.home(); });  // where it has crawled to
await page.waitForTimeout(1500);
await page.evaluate(() => window.volvox.stage.home());
await page.waitForTimeout(500);
await page.screenshot({ path: file, type: "jpeg", quality: 85 });
await browser.close();
volvox.kill("SIGKILL");
rmSync(results, { recursive: true, force: true });
