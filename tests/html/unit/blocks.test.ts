// Data in the page: read back as written, and refused when cut short.
import assert from "node:assert/strict";
import { deflateRawSync } from "node:zlib";
import { test } from "node:test";
import { Blocks, decode } from "page/data/blocks";

const encoded = (value: unknown) => deflateRawSync(JSON.stringify(value)).toString("base64");

const page = (blocks: Record<string, string>) => ({
  getElementById: (id: string) => ({ textContent: blocks[id.replace("tmeter-", "")] ?? null, remove: () => {} }),
}) as unknown as Document;

test("a block is read back as written", async () => {
  const value = { name: "</script>\u0000层", cells: [1, null, "?", "i9223372036854775807"] };
  assert.deepEqual(await decode(encoded(value)), value);
});

test("a block that is cut short is an error, not less data", async () => {
  const text = encoded(Array.from({ length: 5000 }, (_, i) => i * 7919));
  await assert.rejects(decode(text.slice(0, 4 * Math.floor(text.length / 8))));
});

test("a missing block of a page is named", async () => {
  const blocks = new Blocks(page({ summary: encoded(1) }));
  assert.equal(await blocks.get("summary"), 1);
  await assert.rejects(blocks.get("modules"), /no data of modules: it was cut short/);
});
