// How long a person waits from the command to a moving robot, with a browser that is already open:
//   node bench/browser_start.mjs [VOLVOX [TIMES]]     (after ./start)
// Prints the times from the start of volvox to its address, to the first picture and to the first one in which time has
// passed, and the processor time of volvox and the browser until then: on a machine with other load, look at that.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendantsCpu, launch, ourProgram, patience, startRun, viewport } from "./browser.mjs";

const [program = ourProgram, times = "5"] = process.argv.slice(2);
const browser = await launch();
for (let i = 0; i < Number(times); ++i) {
  const page = await browser.newPage({ viewport });
  const results = mkdtempSync(join(tmpdir(), "volvox-start-"));
  const cpu = descendantsCpu(), begin = performance.now(), since = () => ((performance.now() - begin) / 1000).toFixed(2);
  const { volvox, address } = await startRun(program, "remod3d/snake", "--duration", "600", "--out", results);
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
