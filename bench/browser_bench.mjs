// How fast the viewer draws in a real headless browser while the run is paused:
//   node bench/browser_bench.mjs [VOLVOX [MODULES ...]]     (after ./start; Chromium from CHROMIUM or the path)
// Prints frames per second, and the processor time per frame of all of the browser's processes. On a machine with other
// load, compare the second.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { chromium } = createRequire(join(root, "web", "package.json"))("playwright-core");
const [program = join(root, "build/release/bin/volvox"), ...counts] = process.argv.slice(2);
const seconds = 10;

// Processor time in s of all descendant processes.
function descendantsCpu() {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      return [{ pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
    } catch { return []; }  // the process has ended
  });
  const ours = new Set([process.pid]);
  for (let before = 0; before < ours.size;) {
    before = ours.size;
    for (const { pid, parent } of processes) if (ours.has(parent)) ours.add(pid);
  }
  return processes.filter(({ pid }) => pid !== process.pid && ours.has(pid)).reduce((sum, { ticks }) => sum + ticks / 100, 0);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking"] });
for (const modules of counts.length > 0 ? counts : ["1000", "10000"]) {
  const volvox = spawn(resolve(program), ["run", "remod3d/scatter", "--set", `modules=${modules}`, "--duration", "1e4", "--view", "--no-browser", "--quiet", "--out", `/tmp/volvox_browser_bench_${process.pid}`]);
  const address = await new Promise((found) => { let said = ""; volvox.stderr.on("data", (data) => { said += data; const match = said.match(/http:\S+/); if (match) found(match[0]); }); });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(address);
  await page.waitForFunction(() => window.volvox?.state() && window.volvox.stage.currentFrame(), null, { timeout: 120_000 });
  await page.evaluate(() => window.volvox.connection.send({ type: "pause" }));
  await page.waitForFunction(() => window.volvox.state().paused, null, { timeout: 120_000 });
  // Turn the camera all the time, so that every frame differs.
  await page.evaluate(() => {
    const { stage } = window.volvox;
    stage.always = true;
    const turn = () => { stage.camera.position.sub(stage.controls.target).applyAxisAngle(stage.camera.up, 0.01).add(stage.controls.target); stage.controls.update(); requestAnimationFrame(turn); };
    turn();
  });
  await page.waitForTimeout(2000);
  const frames = () => page.evaluate(() => window.volvox.stage.frames);
  const [first, cpu, begin] = [await frames(), descendantsCpu(), performance.now()];
  await page.waitForTimeout(seconds * 1000);
  const drawn = (await frames()) - first, took = (performance.now() - begin) / 1000;
  console.log(`${modules} modules: ${(drawn / took).toFixed(1)} frames per second, ${((1000 * (descendantsCpu() - cpu)) / drawn).toFixed(1)} ms of processor time each`);
  if (process.env.PICTURE) await page.screenshot({ path: `${process.env.PICTURE}_${modules}.png` });
  await page.close();
  volvox.kill("SIGKILL");
}
await browser.close();
