// The pictures of README.md: an html report and a terminal, as PNGs of few colours.
//
//   node screenshots.mjs --modules NODE_MODULES --tmeter TMETER --model RESNET50.pt2
//
// Written to docs/images; needs Chromium and pngquant (Debian). The terminal is
// drawn from what tmeter writes to a terminal of 118 columns, its colours included.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: {
  modules: { type: "string" }, tmeter: { type: "string" }, model: { type: "string" },
  chromium: { type: "string", default: "/usr/bin/chromium" },
} });
const { chromium } = createRequire(join(resolve(values.modules), "-"))("playwright-core");
const images = resolve(dirname(fileURLToPath(import.meta.url)), "../../docs/images");
const work = mkdtempSync(join(tmpdir(), "screenshots-"));
mkdirSync(images, { recursive: true });

const plugins = "--plugins=params,flops,memory,energy";
const report = join(work, "report.html");
execFileSync(values.tmeter, [values.model, plugins, "--report", `html=${report}`]);

/** What a terminal of so many columns is sent. */
function terminal(columns, ...command) {
  const line = ["stty", "cols", columns, "rows", 200, ";", values.tmeter, ...command].join(" ");
  const text = execFileSync("script", ["-qec", line, "/dev/null"], { env: { ...process.env, TERM: "xterm-256color", COLUMNS: "" } });
  return text.toString().replaceAll("\r", "").replace(/\x1b\[\d*K/g, "");
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const colors = { 31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd", 90: "#8b949e" };

/** Styles of SGR codes as spans: what tmeter uses of them. */
function marked(text) {
  let style = {};
  return text.split(/(\x1b\[[\d;]*m)/).map((part) => {
    const codes = /^\x1b\[([\d;]*)m$/.exec(part)?.[1];
    if (codes === undefined) {
      const css = Object.entries(style).map(([k, v]) => `${k}:${v}`).join(";");
      return css ? `<span style="${css}">${escaped(part)}</span>` : escaped(part);
    }
    for (const code of (codes || "0").split(";").map(Number)) {
      if (code === 0) style = {};
      else if (code === 1) style["font-weight"] = "bold";
      else if (code === 2) style.opacity = "0.6";
      else if (code === 3) style["font-style"] = "italic";
      else if (code === 22) { delete style["font-weight"]; delete style.opacity; }
      else if (colors[code]) style.color = colors[code];
      else if (code === 39) delete style.color;
    }
    return "";
  }).join("");
}

const screen = (command, text) => `<!doctype html><meta charset="utf-8"><body style="margin:0;background:#0d1117">
<pre style="margin:0;padding:18px 22px;width:max-content;color:#e6edf3;font:14px/1.35 'DejaVu Sans Mono',monospace"><span
style="color:#7ee787">$</span> ${escaped(command)}\n${marked(text)}</pre>`;

const browser = await chromium.launch({ executablePath: values.chromium, args: ["--no-sandbox"] });
const made = [];

async function picture(name, { content, url, width = 1280, height = 800, scheme = "light", ready, whole }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  if (content) await page.setContent(content);
  else await page.goto(url);
  if (ready) await page.locator(ready).first().waitFor();
  const file = join(images, `${name}.png`);
  await (whole ? page.locator(whole).screenshot({ path: file }) : page.screenshot({ path: file }));
  await page.close();
  execFileSync("pngquant", ["--force", "--ext", ".png", "--strip", "--speed", "1", "64", file]);
  made.push(`${name}.png ${statSync(file).size}`);
}

const page = `file://${report}`;
await picture("html-modules", { url: `${page}#modules?at=layer3.0`, ready: ".details .cells td" });
await picture("html-map", { url: `${page}#map?at=layer4.0.conv2`, scheme: "dark", ready: ".map .tile" });
const short = (file) => basename(file);
await picture("terminal", { whole: "pre", content: screen(`tmeter --plugins=flops,energy --depth 1 ${short(values.model)}`,
  terminal(118, "--plugins=flops,energy", "--depth", "1", resolve(values.model))) });
await browser.close();
console.log(made.join("\n"));
