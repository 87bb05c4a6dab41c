// The other views: map, graph, operators, tensors, charts, findings, and the additions of a third-party plugin.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { becomes, eventually, fixtures, hashOf, makeReport, openTab, path, resnet, rowNamed, source, trained, withPage } from "./browser";

test("a double click in the map zooms, and Backspace leads back", () =>
  withPage(resnet(), { hash: "#map" }, async ({ page }) => {
    const tile = page.locator('.map .tile[aria-label^="layer4 "]');
    await tile.click({ position: { x: 30, y: 8 } });
    await page.locator(".details").waitFor();
    await tile.dblclick({ position: { x: 30, y: 8 } });
    const crumbs = page.getByLabel("zoom");
    await eventually(async () => assert.match(await crumbs.innerText(), /ResNet\s*layer4/));
    await becomes(() => hashOf(page), "#map?at=layer4&zoom=layer4");
    await page.locator(".map .tile").first().focus();
    await page.keyboard.press("Backspace");
    await eventually(async () => assert.doesNotMatch(await crumbs.innerText(), /layer4/));
  }));

test("details open after a double click, so that its second click hits the same element as the first", () =>
  withPage(resnet(), { hash: "#map" }, async ({ page }) => {
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.locator('.map .tile[aria-label^="layer4 "]').click({ position: { x: 30, y: 8 } });
    await page.clock.runFor(300);
    await page.locator('.tile[aria-pressed="true"]').waitFor();
    assert.equal(await page.locator(".details").count(), 0);
    await page.clock.runFor(300);
    await page.locator(".details").waitFor();
    await page.getByRole("button", { name: "close details" }).click();
    await page.locator(".details").waitFor({ state: "detached" });
  }));

test("a selection in the map selects in the table and the details, too", () =>
  withPage(resnet(), { hash: "#map" }, async ({ page }) => {
    await page.getByRole("button", { name: /^fc / }).click();
    await becomes(() => page.locator(".details .long-name").innerText(), "fc");
    await openTab(page, /Modules/);
    await eventually(async () => assert.match(await page.locator('.grid-row[aria-selected="true"]').innerText(), /fc/));
  }));

test("the area of the map is any metric that adds up", () =>
  withPage(resnet(), { hash: "#map" }, async ({ page }) => {
    const width = () => page.locator('.tile[data-row="150"]').evaluate((e) => e.getBoundingClientRect().width * e.getBoundingClientRect().height);
    const macs = await width();  // fc: 0.05 % of the MACs, 8 % of the parameters
    await page.getByLabel("Area").selectOption({ label: "params" });
    await eventually(async () => assert.ok(await width() > 20 * macs));
  }));

test("the map goes down to the leaves, and each tile shows its share and value", () =>
  withPage(resnet(), { hash: "#map" }, async ({ page }) => {
    // 3 × 3 × 256 × 256 × 14 × 14 multiply-adds, by hand; of 4,089,184,256.
    const conv = page.locator('.map .tile[aria-label^="layer3.1.conv2 "]');
    assert.match(await conv.innerText(), /^conv2\s+2\.8 %( · 115\.61 M)? each$/);  // one of five blocks
    assert.match(await conv.getAttribute("aria-label") ?? "", /^layer3\.1\.conv2 2\.8 %.* each, MACs/);
  }));

test("identical modules are one tile of the map, until it is clicked", () =>
  withPage(makeReport("map-vit", join(fixtures, "models/vit_b_16.pt2"), "--plugins=flops"), { hash: "#map" }, async ({ page }) => {
    const layer = (i: number) => page.locator(`.map .tile[aria-label^="encoder.layers.encoder_layer_${i} "]`);
    await layer(0).waitFor();
    assert.equal(await layer(1).count(), 0);
    await page.getByRole("button", { name: /^repeat 12 × encoder_layer_0 … encoder_layer_11 99\.\d %/ }).click({ position: { x: 30, y: 8 } });
    await layer(11).waitFor();
    await page.getByLabel("Fold repeats").uncheck();
    await page.getByLabel("Fold repeats").check();
    await layer(11).waitFor({ state: "detached" });
  }));

test("the colour of the map is the type, or the heat of any metric", () =>
  withPage(resnet(), { hash: "#map" }, async ({ page }) => {
    const color = (path: string) => page.locator(`.map .tile[aria-label^="${path} "]`).evaluate((e) => getComputedStyle(e).backgroundColor);
    assert.equal(await color("layer1.0.conv1"), await color("layer4.2.conv2"));
    await page.getByLabel("Colour").selectOption({ label: "params" });
    await eventually(async () => assert.notEqual(await color("layer1.0.conv1"), await color("layer4.2.conv2")));
    await eventually(async () => assert.match(await page.locator(".legend").innerText(), /params: 0\s+2\.36 M/));  // 512 × 512 × 9
  }));

test("a search colours only its matches, in the map and in the strip above the table", () =>
  withPage(resnet(), { hash: "#map" }, async ({ page }) => {
    await page.getByLabel("Highlight modules and types").fill("layer3.0 downsample");
    await eventually(async () => assert.match(await page.locator(".toolbar").innerText(), /3 modules found: 2\.5 % of MACs/));
    const grey = (path: string) => page.locator(`.tile[aria-label^="${path} "]`).evaluate((e) => e.classList.contains("other"));
    assert.deepEqual([await grey("layer3.0.downsample.0"), await grey("layer3.0.conv1")], [false, true]);
    await openTab(page, /Modules/);
    await page.getByLabel("Search modules and types").fill("layer3.0");
    await becomes(() => grey("conv1"), true);
    assert.equal(await grey("layer3.0.conv1"), false);
  }));

test("the graph of a module has its operators and calls, and a double click goes inside", () =>
  withPage(resnet(), { hash: "#graph?at=layer1" }, async ({ page }) => {
    const texts = () => page.locator(".graph .box text:first-of-type").allTextContents().then((found) => found.sort());
    await becomes(texts, ["0 Bottleneck", "1 Bottleneck", "2 Bottleneck", "from outside", "to outside"]);
    await page.getByRole("button", { name: /^0 Bottleneck/ }).dblclick();
    await page.getByRole("button", { name: /conv1 Conv2d/ }).waitFor();
    await becomes(() => page.getByRole("button", { name: /relu ReLU/ }).count(), 3, "each call of the one ReLU");
  }));

test("the graph of the model has its input, its output and the sizes on its edges", () =>
  withPage(resnet(), { hash: "#graph" }, async ({ page }) => {
    await page.locator(".box.input").waitFor();
    assert.deepEqual(await page.locator(".box.input, .box.output").allTextContents(), ["input x", "output"]);
    const sizes = await page.locator(".edge-text").allTextContents();
    // ResNet-50: the picture, the first convolution with stride 2, what goes into fc after pooling, the classes.
    for (const size of ["1×3×224×224", "1×64×112×112", "1×2048×1×1", "1×1000"]) assert.ok(sizes.includes(size), `${size} in ${sizes}`);
  }));

test("the graph of a model of 12 equal layers has them once, in the encoder around them", () =>
  withPage(makeReport("map-vit", join(fixtures, "models/vit_b_16.pt2"), "--plugins=flops"), { hash: "#graph" }, async ({ page }) => {
    const layers = page.locator(".box.module").filter({ hasText: "EncoderBlock" });
    await becomes(() => layers.count(), 1);
    assert.match(await layers.textContent() ?? "", /repeat 12 ×/);
    await page.getByLabel("Fold repeats").uncheck();
    await becomes(() => layers.count(), 12);
  }));

test("operators can be searched and summed up by name", () =>
  withPage(resnet(), { hash: "#operators" }, async ({ page }) => {
    await page.getByLabel("By operator").check();
    const row = page.locator(".grid-row").filter({ hasText: "aten::conv2d" });
    await eventually(async () => assert.match(await row.first().innerText(), /53/));  // convolutions of a ResNet-50
    await row.first().click();
    await becomes(() => page.getByRole("grid").getAttribute("aria-rowcount"), "54");
  }));

test("a finding leads to its operator", () =>
  withPage(resnet(), { hash: "#findings" }, async ({ page }) => {
    const finding = page.locator(".finding").filter({ hasText: "memory-peak" });
    assert.match(await finding.innerText(), /live tensors/);
    const link = finding.locator(".link").first();
    await becomes(() => link.innerText(), "layer1.0.downsample.1 · batch_norm #13");
    await link.click();
    await page.locator('.grid-row[aria-selected="true"]').waitFor();
    await becomes(() => page.locator(".details .kind").innerText(), "operator call 13");
    await eventually(async () => assert.match(await page.locator(".details").innerText(), /source/));
  }));

test("a selected module of the map does not hide its contents", () =>
  withPage(resnet(), { hash: "#map?at=layer3.2" }, async ({ page }) => {
    const inMiddle = () => page.locator('.tile[aria-pressed="true"]').evaluate((tile) => {
      const { left, top, width, height } = tile.getBoundingClientRect();
      return document.elementFromPoint(left + width / 2, top + height / 2)?.closest(".tile")?.getAttribute("aria-label") ?? "";
    });
    await eventually(async () => assert.match(await inMiddle(), /^layer3\.2\.conv/));
  }));

test("the noise of all schemes is compared, of a tensor and of all", () =>
  withPage(trained(), { hash: "#tensors?tensor=stem.weight" }, async ({ page }) => {
    const bars = page.getByRole("list", { name: "sqnr [dB]" }).getByRole("listitem");
    await becomes(() => bars.count(), 28);
    // 46.325 dB, the value of PyTorch's observer and fake quantization (fixtures/trained/expected.json).
    await eventually(async () => assert.match(await bars.filter({ hasText: /^int8 per channel/ }).first().innerText(), /46\.3[23]\sdB/));
    await openTab(page, /Charts/);
    await page.getByRole("heading", { name: "sqnr [dB] over all tensors" }).waitFor();
    await becomes(() => page.locator(".chart .bars li").count(), 28);
  }));

test("tensors have histograms and all values of their plugins", () =>
  withPage(trained(), { hash: "#tensors?tensor=embed.weight" }, async ({ page }) => {
    await eventually(async () => assert.ok(await page.locator(".spark path").count() > 10));
    await page.locator(".details .histogram").first().waitFor();
    await eventually(async () => {
      const details = await page.locator(".details").innerText();
      for (const words of ["median", "nf4", "99 %", "kurtosis"]) assert.ok(details.includes(words), words);
    });
  }));

test("charts exist for series of the report and for no others", async () => {
  await withPage(resnet(), { hash: "#charts" }, async ({ page }) => {
    await page.locator(".plot canvas").first().waitFor();
    await becomes(() => page.locator(".chart h2").allInnerTexts(), ["Over the operators, in the order they run", "Operator calls, one metric against another"]);
  });
  const swept = makeReport("swept", join(fixtures, "models/dynamic_mlp.pt2"), "--plugins=flops,memory", "--sweep", "x.0=2,8,64");
  await withPage(swept, { hash: "#charts" }, async ({ page }) => {
    await page.getByRole("heading", { name: "Cost against size" }).waitFor();
  });
  const weights = makeReport("weights", join(fixtures, "trained/model.safetensors"), "--plugins=params");
  await withPage(weights, {}, async ({ page }) => {
    for (const name of ["Charts", "Graph", "Operators"]) assert.equal(await page.getByRole("tab", { name }).count(), 0, name);
  });
});

test("operators are below the ceilings of the machine", () => {
  const file = makeReport("roofline", join(fixtures, "models/resnet50.pt2"), "--plugins=roofline", "--hardware", "nvidia-a100");
  return withPage(file, { hash: "#charts" }, async ({ page }) => {
    await page.getByRole("img", { name: "attainable arithmetic/s against intensity of each operator call" }).waitFor();
    await becomes(() => page.locator(".chart h2").allInnerTexts(),
                  ["Roofline: attainable arithmetic/s against intensity", "Over the operators, in the order they run"]);
    const legend = page.locator(".chart").first().locator(".u-legend");
    await eventually(async () => assert.match(await legend.innerText(), /roofline of float32 and memory/));
    await page.locator(".chart").first().getByLabel("y axis").selectOption({ label: "T arithmetic" });
    await eventually(async () => assert.doesNotMatch(await legend.innerText(), /roofline/));
  });
});

test("additions of a third-party plugin are shown without a special case", () => {
  const plugin = path("strange.tmeter");
  execFileSync("c++", ["-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-I", join(source, "sdk/include"),
    "-o", plugin, join(source, "tests/html/stranger_plugin.cpp")]);
  const file = makeReport("strange", join(fixtures, "models/resnet50.pt2"), "--plugins=strange,params", "--plugin", plugin);
  return withPage(file, {}, async ({ page }) => {
    const card = page.locator(".card").filter({ hasText: "strange cost" });
    assert.match(await card.innerText(), /≥9.01 P/);
    await card.hover();
    await eventually(async () =>
      assert.match(await page.getByRole("tooltip").innerText(), /at least 9,007,199,254,740,993 STR[^]*as strangers count/));
    await page.mouse.move(0, 0);
    assert.match(await page.locator(".cards").innerText(), /strange mood\s+25.00 %/);
    assert.match(await rowNamed(page, "relu").innerText(), /\?/);
    assert.match(await page.locator(".cards").innerText(), /1 error/);
    await openTab(page, /Findings/);
    await eventually(async () =>
      assert.match(await page.locator(".finding").innerText(), /a strange thing at <b>the<\/b> first operator/));
    await openTab(page, /Charts/);
    await page.getByRole("heading", { name: "strange power over time" }).waitFor();
    await openTab(page, /Tensors/);
    await page.locator(".grid-row").first().click();
    await page.getByText("strange values").waitFor();
  });
});
