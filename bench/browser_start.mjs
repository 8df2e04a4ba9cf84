// How long a person waits from the command to a moving robot, with a browser that is already open:
//   node bench/browser_start.mjs [VOLVOX [TIMES]]     (after ./start; Chromium from CHROMIUM or the path)
// Prints the times from the start of volvox to its address, to the first picture and to the first one in which time has
// passed, and the processor time of volvox and the browser until then: on a machine with other load, look at that.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { chromium } = createRequire(join(root, "web", "package.json"))("playwright-core");
const [program = join(root, "build/release/bin/volvox"), times = "5"] = process.argv.slice(2);
const patience = { timeout: 120_000 };

// Processor time in s of all processes that this one has started.
function descendantsCpu() {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      return [{ pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
    } catch { return []; }  // the process has ended
  });
  const ours = new Set([process.pid]);
  for (let before = 0; before < ours.size;) {
    before = ours.size;
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid);
  }
  return all.filter(({ pid }) => pid !== process.pid && ours.has(pid)).reduce((sum, { ticks }) => sum + ticks / 100, 0);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, ...patience,
  args: ["--no-sandbox", "--use-gl=angle", `--use-angle=${process.env.ANGLE ?? "gl-egl"}`, "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking"] });
for (let i = 0; i < Number(times); ++i) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const results = mkdtempSync(join(tmpdir(), "volvox-start-"));
  const cpu = descendantsCpu(), begin = performance.now(), since = () => ((performance.now() - begin) / 1000).toFixed(2);
  const volvox = spawn(resolve(program), ["run", "remod3d/snake", "--duration", "600", "--view", "--no-browser", "--quiet", "--out", results]);
  const address = await new Promise((found) => { let said = ""; volvox.stderr.on("data", (data) => { said += data; const match = said.match(/http:\S+/); if (match) found(match[0]); }); });
  const told = since();
  await page.goto(address, patience);
  await page.waitForFunction(() => window.volvox?.stage.currentFrame() && window.volvox.stage.frames > 0, null, patience);
  const drawn = since();
  await page.waitForFunction(() => window.volvox.stage.frames > 1 && window.volvox.stage.currentFrame()?.tick > 0, null, patience);
  console.log(`address ${told} s, first picture ${drawn} s, moving ${since()} s; ${(descendantsCpu() - cpu).toFixed(2)} s of processor time`);
  await page.close();
  volvox.kill("SIGKILL");
  rmSync(results, { recursive: true, force: true });
}
await browser.close();
