// Tests of the html report's page:
//
//   node run.mjs types|unit|browser --modules NODE_MODULES --work FOLDER
//
// types: tsc over page and tests, strict. unit, browser: *.test.ts of that folder, bundled by esbuild
// into one file (one start of Node), under Node's own test runner. The browser tests need TMETER and CHROMIUM in the environment.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values, positionals: [suite] } = parseArgs({
  allowPositionals: true, options: { modules: { type: "string" }, work: { type: "string" } },
});
const here = dirname(fileURLToPath(import.meta.url));
const web = resolve(here, "../../plugins/reports/html/web");
const modules = resolve(values.modules);
const work = join(resolve(values.work), suite);
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

function run(...command) {
  const { status } = spawnSync(process.execPath, command, {
    stdio: "inherit", env: { ...process.env, NODE_MODULES: modules, WORK: work },
  });
  process.exit(status ?? 1);
}

function checkTypes() {
  const config = {
    extends: join(web, "tsconfig.json"),
    compilerOptions: {
      paths: { "*": [join(modules, "@types/*"), join(modules, "*")], "page/*": [join(web, "src/*")] },
      typeRoots: [join(modules, "@types")],
    },
    include: [join(web, "src"), join(here, "unit"), join(here, "browser")],
  };
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify(config));
  run(join(modules, "typescript/bin/tsc"), "-p", work);
}

async function runTests() {
  const require = createRequire(join(modules, "-"));
  const { build } = await import(pathToFileURL(require.resolve("esbuild")).href);
  const tests = readdirSync(join(here, suite)).filter((name) => name.endsWith(".test.ts"));
  const outfile = join(work, "tests.mjs");
  await build({
    stdin: { contents: tests.map((name) => `import "./${name}";`).join("\n"), resolveDir: join(here, suite) },
    nodePaths: [modules], alias: { page: join(web, "src") }, external: ["playwright-core"],
    bundle: true, platform: "node", format: "esm", target: "node20", outfile,
    jsx: "automatic", jsxImportSource: "preact", logLevel: "warning", sourcemap: "inline",
  });
  run("--enable-source-maps", "--test", ...(process.env.PATTERN ? ["--test-name-pattern", process.env.PATTERN] : []), outfile);
}

if (suite === "types") checkTypes();
else await runTests();
