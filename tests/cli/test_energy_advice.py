"""energy-advice by hand: dynamic_mlp.pt2, float32, batch 4. test_parallelism_advice.py has its bytes.

At 1 nJ a byte and no energy for arithmetic, its 94,408 bytes take 94.408 uJ: 76,840 nJ for weights, 8,192 nJ for gelu, whose 4,096
bytes of input are written and read.
"""
from support import MODELS, CliTest, main, report, tmeter

MLP = MODELS / "dynamic_mlp.pt2"
RESNET = MODELS / "resnet50.pt2"
PLUGINS = "--plugins=energy-advice"


class EnergyAdvice(CliTest):
    def profile(self, **values):
        values = {"energy.mac.float32": 1e-30, "energy.op.float32": 1e-30, "energy.dram": 1e-9} | {
            key.replace("_", "."): value for key, value in values.items()}
        return self.file("made-up.toml", 'name = "made-up"\ntitle = "Made up"\n' + "".join(
            f'[{key}]\nvalue = {value}\nunit = "J"\nsource = "this test"\n' for key, value in values.items()))

    def findings(self, hardware, model=MLP):
        document = report(model, PLUGINS, "--hardware", hardware)
        found = {}
        for f in document["findings"]:
            if f["rule"].startswith("energy-"):
                found.setdefault(f["rule"], []).append(f)
        return document, found

    def change(self, finding):
        [change] = [c for c in finding["changes"] if c["metric"] == "energy"]
        return change["from"], change["to"]

    def test_where_the_energy_goes(self):
        document, found = self.findings(self.profile())
        [shares] = found["energy-shares"]
        self.assertAlmostEqual(document["totals"]["energy"], 94.408e-6, delta=1e-9)
        self.assertIn("94.41 uJ a run: arithmetic 0.0 %, memory traffic 100.0 %", shares["text"])
        # 71,680 + 14,536 of 94,408 bytes
        self.assertIn("2 × linear 91.3 %, 1 × gelu 8.7 %", shares["evidence"])
        self.assertIn("linear energy model on hardware profile made-up", shares["evidence"])

    def test_a_larger_batch(self):
        """7 of 8 times 76,840 bytes of weights."""
        _, found = self.findings(self.profile())
        [batch] = found["energy-batch"]
        self.assertIn("8 times the batch would save 67.23 uJ of 94.41 uJ (71.2 %)", batch["text"])
        before, after = self.change(batch)
        self.assertAlmostEqual(before - after, 76_840e-9 * 7 / 8, delta=1e-12)
        self.assertAlmostEqual(report(MLP, PLUGINS, "--hardware", self.profile())["totals"]["energy_headroom"], 76_840 * 7 / 8 / 94_408)

    def test_full_includes_energy_advice(self):
        rules = {f["rule"] for f in report(RESNET, "--full")["findings"]}
        self.assertLessEqual({"energy-shares", "energy-batch"}, rules)

    def test_fusion(self):
        _, found = self.findings(self.profile())
        [fusion] = found["energy-fusion"]
        self.assertIn("fusing 1 operator into those before them would save at most 8.19 uJ", fusion["text"])
        before, after = self.change(fusion)
        self.assertAlmostEqual(before - after, 2 * 4_096e-9, delta=1e-12)

    def test_a_smaller_type_is_advised_where_the_profile_has_its_energy(self):
        self.assertNotIn("energy-precision", self.findings(self.profile())[1])
        half = self.profile(energy_mac_bfloat16=1e-30, energy_op_bfloat16=1e-30)
        [precision] = self.findings(half)[1]["energy-precision"]
        self.assertIn("bfloat16 instead of float32 would save 47.20 uJ of 94.41 uJ (50.0 %)", precision["text"])
        # The linear layers alone: 3/4 of 71,680 + 14,536 bytes.
        eighth = self.profile(energy_mac_int8=1e-30, energy_op_int8=1e-30)
        [precision] = self.findings(eighth)[1]["energy-precision"]
        self.assertIn("int8 instead of float32 would save 64.66 uJ", precision["text"])
        self.assertIn("2 operators", precision["evidence"])

    def test_other_devices_by_the_published_tables(self):
        """docs/hardware-profiles.md: 91.69 mJ on nvidia-a100, 482.01 mJ on intel-xeon-8380."""
        [device] = self.findings("intel-xeon-8380", RESNET)[1]["energy-device"]
        self.assertEqual(device["severity"], "advice")
        self.assertIn("on nvidia-a100 would save 390.31 mJ of 482.01 mJ (81.0 %)", device["text"])
        for circuit in ("horowitz-45nm", "nvidia-a100"):
            [device] = self.findings(circuit, RESNET)[1]["energy-device"]
            self.assertEqual((device["severity"], device["changes"]), ("info", []))
            self.assertIn("482.01 mJ on intel-xeon-8380", device["text"])

    def test_missing_energies_of_unused_operations_give_no_warning(self):
        for hardware in ("intel-xeon-8380", "horowitz-45nm"):
            warnings = report(RESNET, PLUGINS, "--hardware", hardware)["warnings"]
            self.assertFalse([w for w in warnings if "lacks values" in w])

    def test_without_energies_there_are_no_findings(self):
        document, found = self.findings("nvidia-h100-sxm", RESNET)
        self.assertEqual(found, {})
        self.assertEqual(tmeter(MODELS.parent / "checkpoints" / "net.safetensors", PLUGINS).returncode, 0)


if __name__ == "__main__":
    main()
