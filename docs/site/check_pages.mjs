// The site in Chromium, opened as files: search finds pages, nothing is asked of the network, nothing is wider than a phone.
//   node check_pages.mjs SITE PLAYWRIGHT CHROMIUM [FOLDER FOR PICTURES]
import path from "node:path";
import { pathToFileURL } from "node:url";

const [site, playwright, executablePath, pictures] = process.argv.slice(2);
const { chromium } = (await import(pathToFileURL(path.join(playwright, "index.js")))).default;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const faults = [];
const address = (page) => pathToFileURL(path.join(site, page)).href;

async function open(page, options = {}) {
  const context = await browser.newContext(options);
  const tab = await context.newPage();
  tab.on("request", (request) => {
    if (!/^(file|data|blob|about):/.test(request.url())) faults.push(`${page} asks for ${request.url()}`);
  });
  tab.on("pageerror", (error) => faults.push(`${page}: ${error.message}`));
  await tab.goto(address(page));
  return tab;
}

async function picture(tab, name) {
  if (pictures) await tab.screenshot({ path: path.join(pictures, name + ".png") });
}

// Search.
const start = await open("index.html", { viewport: { width: 1300, height: 900 } });
await start.click(".md-search__input");
await start.keyboard.type("radio interference", { delay: 20 });
try {
  await start.waitForSelector(".md-search-result__link", { timeout: 20000 });
  await picture(start, "search");
  const found = await start.$$eval(".md-search-result__link", (links) => links.map((link) => link.getAttribute("href")));
  if (!found.some((link) => link.includes("network.html"))) faults.push(`search for radio interference finds ${found.slice(0, 5)}, not network.html`);
} catch (error) {
  faults.push(`search finds nothing: ${error.message.split("\n")[0]}`);
}

// The fonts of the site are loaded, and used.
for (const font of ['16px "Lato"', '700 16px "Lato"', '16px "DejaVu Sans Mono"']) {
  const family = font.match(/"(.*)"/)[1];
  const loaded = await start.evaluate(async (wanted) => (await document.fonts.load(wanted)).length, font);
  if (!loaded) faults.push(`the font ${font} is not loaded`);
  const used = await start.evaluate(() => [".md-typeset", ".md-typeset code"].map((where) => getComputedStyle(document.querySelector(where)).fontFamily).join());
  if (!used.includes(family)) faults.push(`${family} is not used: ${used}`);
}

// Light and dark differ, and both can be read.
for (const colorScheme of ["light", "dark"]) {
  const tab = await open("docs/concepts.html", { colorScheme, viewport: { width: 1300, height: 1200 } });
  const [paper, ink] = await tab.evaluate(() => {
    const brightness = (color) => color.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
    return [brightness(getComputedStyle(document.body).backgroundColor), brightness(getComputedStyle(document.querySelector(".md-typeset")).color)];
  });
  if ((colorScheme === "light") !== paper > 128) faults.push(`${colorScheme}: the paper has a brightness of ${paper}`);
  if (Math.abs(paper - ink) < 100) faults.push(`${colorScheme}: ink ${ink} on paper ${paper}`);
  await picture(tab, colorScheme);
}

// A phone: nothing makes the page itself scroll sideways.
for (const page of ["index.html", "docs/start.html", "docs/gallery.html", "docs/comparison.html", "docs/benchmarks.html", "reference/python.html", "reference/cpp/mind.html"]) {
  const tab = await open(page, { viewport: { width: 390, height: 844 }, isMobile: true });
  const width = await tab.evaluate(() => document.documentElement.scrollWidth);
  if (width > 391) faults.push(`${page} is ${width} px wide on a phone of 390`);
  await picture(tab, "phone_" + page.replaceAll("/", "_"));
}
await browser.close();
for (const fault of faults) console.error(fault);
process.exit(faults.length ? 1 : 0);
