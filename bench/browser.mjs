// What the measurements with a browser share. Chromium comes from CHROMIUM or the path.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { chromium } = createRequire(join(root, "web", "package.json"))("playwright-core");
export const ourProgram = join(root, "build/release/bin/volvox");
export const patience = { timeout: 120_000 };
export const viewport = { width: 1280, height: 720 };

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, ...patience,
  args: ["--no-sandbox", "--use-gl=angle", `--use-angle=${process.env.ANGLE ?? "gl-egl"}`, "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking"] });

// Starts a run with a viewer: its process and its address.
export async function startRun(program, ...settings) {
  const volvox = spawn(resolve(program), ["run", ...settings, "--view", "--no-browser", "--quiet"]);
  const address = await new Promise((found) => { let said = ""; volvox.stderr.on("data", (data) => { said += data; const match = said.match(/http:\S+/); if (match) found(match[0]); }); });
  return { volvox, address };
}

// Processor time in s of all processes that this one has started.
export function descendantsCpu() {
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
