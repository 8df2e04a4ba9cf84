// How fast the viewer draws in a real headless browser while the run is paused:
//   node bench/browser_bench.mjs [VOLVOX [MODULES ...]]     (after ./start)
// Prints frames per second, and the processor time per frame of all of the browser's processes. On a machine with other
// load, compare the second.
import { descendantsCpu, launch, ourProgram, patience, startRun, viewport } from "./browser.mjs";

const [program = ourProgram, ...counts] = process.argv.slice(2);
const seconds = 10;
const browser = await launch();
for (const modules of counts.length > 0 ? counts : ["1000", "10000"]) {
  const { volvox, address } = await startRun(program, "remod3d/scatter", "--set", `modules=${modules}`, "--duration", "1e4", "--out", `/tmp/volvox_browser_bench_${process.pid}`);
  const page = await browser.newPage({ viewport });
  await page.goto(address);
  await page.waitForFunction(() => window.volvox?.state() && window.volvox.stage.currentFrame(), null, patience);
  await page.evaluate(() => window.volvox.connection.send({ type: "pause" }));
  await page.waitForFunction(() => window.volvox.state().paused, null, patience);
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
