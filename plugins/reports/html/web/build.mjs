// Bundles the page and writes it as C++: what comes before the data and what comes after.
//
//   node build.mjs --modules NODE_MODULES --output page.cpp
//
// The policy in the page allows this one script and this one style, by their hashes, and nothing else:
// no network, no other script, whatever a name in the data looks like.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { modules: { type: "string" }, output: { type: "string" } } });
const here = dirname(fileURLToPath(import.meta.url));
const modules = resolve(values.modules ?? join(here, "node_modules"));

async function bundle() {
  const require = createRequire(pathToFileURL(join(modules, "-")));
  const { build } = await import(pathToFileURL(require.resolve("esbuild")).href);
  const { outputFiles } = await build({
    entryPoints: [join(here, "src/main.tsx"), join(here, "src/style/all.css")],
    nodePaths: [modules],
    bundle: true, minify: true, write: false, outdir: "/page", format: "iife", target: "es2022", charset: "utf8",
    jsx: "automatic", jsxImportSource: "preact", legalComments: "inline", logLevel: "warning",
  });
  const text = (ending) => outputFiles.find((file) => file.path.endsWith(ending)).text;
  return { script: text(".js"), style: text(".css") };
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Inside an element of raw text nothing but its end tag matters. */
function checked(text, tag) {
  if (new RegExp(`</${tag}|<!--`, "i").test(text)) throw new Error(`the bundle holds </${tag} or <!--`);
  return text;
}

function page({ script, style }) {
  const policy = [
    "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`,
    "base-uri 'none'", "form-action 'none'",
  ].join("; ");
  const before = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="tmeter">
<title>tmeter report</title>
<style>${checked(style, "style")}</style>
</head>
<body>
<div id="tmeter-page"><noscript>This report is shown by a script inside this file, and scripts are off.
tmeter --report text shows the same figures without one.</noscript></div>
`;
  const after = `<script>${checked(script, "script")}</script>\n</body>\n</html>\n`;
  return { before, after };
}

/** Bytes, not a literal: compilers limit how long those may be. */
const bytes = (text) => Buffer.from(text, "utf8").join(",");

const source = ({ before, after }) => `// Made by web/build.mjs.
#include "page.hpp"

namespace html_report {
namespace {
constexpr unsigned char kBefore[] = {${bytes(before)}};
constexpr unsigned char kAfter[] = {${bytes(after)}};
std::string_view text(const unsigned char* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
}  // namespace
std::string_view page_before_data() { return text(kBefore, sizeof kBefore); }
std::string_view page_after_data() { return text(kAfter, sizeof kAfter); }
}  // namespace html_report
`;

await writeFile(values.output, source(page(await bundle())));
