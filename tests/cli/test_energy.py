"""The energy plugin's other metrics: the range of the published tables, power, operations per joule, and CO2e.

docs/hardware-profiles.md derives the joules of a ResNet-50. The grams are copied from Our World in Data's table of 2024
(ourworldindata.org/grapher/carbon-intensity-electricity), which is also based on Ember's data.
"""
import re

from support import MODELS, SOURCE, CliTest, main, report, tmeter

RESNET = MODELS / "resnet50.pt2"
MLP = MODELS / "dynamic_mlp.pt2"
PLUGINS = "--plugins=flops,energy"
JOULES_PER_KWH = 3.6e6
OUR_WORLD_IN_DATA_2024 = {"AT": 103, "BE": 118, "CZ": 414, "DK": 143, "EE": 341, "FI": 72, "FR": 44, "DE": 344, "NL": 253}


def metric(document, name):
    return next(m for m in document["metrics"] if m["id"] == name)


class Energy(CliTest):
    def assert_close(self, value, expected, delta=1e-3):
        self.assertAlmostEqual(value / expected, 1, delta=delta)

    def test_the_band_spans_the_published_tables_on_every_profile(self):
        # docs/hardware-profiles.md: jouppi-7nm 20.26 mJ, intel-xeon-8380 482.01 mJ, the others between
        for hardware in ("horowitz-45nm", "nvidia-a100", "nvidia-h100-sxm"):
            with self.subTest(hardware=hardware):
                document = report(RESNET, PLUGINS, "--hardware", hardware)
                totals = document["totals"]
                self.assert_close(totals["energy_low"], 20.26e-3)
                self.assert_close(totals["energy_high"], 482.01e-3)
                for name in ("energy_low", "energy_high"):
                    provenance = metric(document, name)["provenance"]
                    self.assertEqual(provenance["kind"], "estimated")
                    self.assertIn("jouppi-7nm", provenance["text"])

    def test_estimates_are_within_their_band(self):
        for hardware in ("horowitz-45nm", "jouppi-7nm", "nvidia-a100", "intel-xeon-8380"):
            for model in (RESNET, MLP, MODELS / "lstm.pt2", MODELS / "bert_like.pt2"):
                with self.subTest(hardware=hardware, model=model.name):
                    totals = report(model, PLUGINS, "--hardware", hardware)["totals"]
                    self.assertLessEqual(totals["energy_low"], totals["energy"] * (1 + 1e-12))
                    self.assertGreaterEqual(totals["energy_high"], totals["energy"] * (1 - 1e-12))

    def test_power_is_energy_over_the_time_static_power_is_drawn_for(self):
        # docs: 14.95 mJ of static energy at 54 W are 276.9 us; 91.69 mJ in 276.9 us are 331 W
        totals = report(RESNET, PLUGINS, "--hardware", "nvidia-a100")["totals"]
        self.assert_close(totals["energy_time"], 14.95e-3 / 54)
        self.assert_close(totals["power"], 91.69e-3 / (14.95e-3 / 54))
        unavailable = metric(report(RESNET, PLUGINS), "power")["provenance"]
        self.assertEqual(unavailable["kind"], "unavailable")
        self.assertIn("power.static", unavailable["text"])

    def test_operations_per_joule(self):
        # 2 · 4,089,184,256 MACs + 39,263,720 other operations in 88.12 mJ
        totals = report(RESNET, PLUGINS)["totals"]
        self.assert_close(totals["flops_per_joule"], (2 * 4_089_184_256 + 39_263_720) / 88.12e-3)

    def test_grams_by_region(self):
        joules = report(RESNET, PLUGINS)["totals"]["energy"]
        for region, grams in OUR_WORLD_IN_DATA_2024.items():
            with self.subTest(region=region):
                document = report(RESNET, PLUGINS, "--set", f"energy.region={region}")
                self.assert_close(document["totals"]["co2"], joules / JOULES_PER_KWH * grams, delta=0.02)
                self.assertIn("Ember", metric(document, "co2")["provenance"]["text"])
                self.assertIn("2024", metric(document, "co2")["provenance"]["text"])

    def test_given_grams_override_the_region_and_may_be_zero(self):
        document = report(RESNET, PLUGINS, "--set", "energy.region=DE", "--set", "energy.co2=1000")
        self.assert_close(document["totals"]["co2"], document["totals"]["energy"] / JOULES_PER_KWH * 1000)
        self.assertEqual(report(RESNET, PLUGINS, "--set", "energy.co2=0")["totals"]["co2"], 0)

    def test_without_a_grid_co2_is_unavailable_with_advice(self):
        document = report(RESNET, PLUGINS)
        self.assertIsNone(document["totals"]["co2"])
        provenance = metric(document, "co2")["provenance"]
        self.assertEqual(provenance["kind"], "unavailable")
        self.assertIn("energy.region=", provenance["text"])
        self.assertIn("energy.co2=", provenance["text"])

    def test_a_named_grid_adds_grams_to_the_report(self):
        # 88.12 mJ / 3.6 MJ · 44 g = 1.08 ug
        done = tmeter(PLUGINS, "--set", "energy.region=FR", RESNET)
        self.assertRegex(done.stdout, r"one inference: 1\.08 ug CO2e")
        self.assertIn("France", done.stdout)
        self.assertNotIn("CO2e by", tmeter(PLUGINS, RESNET).stdout)

    def test_a_profile_without_energies_has_no_grams_either(self):
        document = report(RESNET, PLUGINS, "--hardware", "nvidia-h100-sxm", "--set", "energy.region=DE")
        self.assertIn("energy.mac", metric(document, "co2")["provenance"]["text"])

    def test_an_unknown_region_is_refused(self):
        self.assert_refused(2, ["energy.region=XX", "DE"], PLUGINS, "--set", "energy.region=XX", RESNET)
        self.assert_refused(2, ["energy.co2"], PLUGINS, "--set", "energy.co2=-2", RESNET)
        self.assert_refused(2, ["energy.co2"], PLUGINS, "--set", "energy.co2=nan", RESNET)

    def heated(self, name, extra):
        """A profile of a hundred watts whose clock permits one MAC per nanosecond."""
        leaves = {"energy.mac.float32": (1e-12, "J"), "energy.op.float32": (1e-12, "J"), "power.static": (100, "W"),
                  "peak.mac.float32": (1e9, "MAC/s"), "peak.op.float32": (1e30, "op/s"), **extra}
        text = f'name = "{name}"\ntitle = "made up"\n'
        text += "".join(f'[{key}]\nvalue = {v}\nunit = "{unit}"\nsource = "made up"\n' for key, (v, unit) in leaves.items())
        return self.file(f"{name}.toml", text)

    def at(self, profile, *temperature):
        options = [f"--set=energy.temperature={t}" for t in temperature]
        return report(RESNET, PLUGINS, "--hardware", profile, *options)

    def test_heat_leaks_and_throttles(self):
        """ResNet-50's 4,089,184,256 MACs take 4.089184256 s at 1 GMAC/s, at 100 W; at 65 °C 0.5 W/K · 40 K more; at 90 °C
        0.5 W/K · 65 K more and 1 − 0.02/K · 5 K of the clock."""
        profile = self.heated("hot", {"thermal.leakage": (0.5, "W/K"), "thermal.reference": (25, "°C"),
                                      "thermal.throttle": (85, "°C"), "thermal.slowdown": (0.02, "1/K")})
        seconds = 4.089184256
        for temperature, watts, clock in ((), 100, 1), ((25,), 100, 1), ((65,), 120, 1), ((90,), 132.5, 0.9):
            totals = self.at(profile, *temperature)["totals"]
            self.assert_close(totals["energy_static"], seconds / clock * watts)
            self.assert_close(totals["energy_time"], seconds / clock)
        text = metric(self.at(profile, 90), "energy")["provenance"]["text"]
        self.assertIn("at 90 °C: 32.5 W of leakage more than at 25 °C, clock 90 % above the throttle point of 85 °C", text)

    def test_missing_thermal_effects_are_reported(self):
        text = metric(self.at("nvidia-a100"), "energy")["provenance"]["text"]
        self.assertIn("without thermal effects: no temperature is given (--set energy.temperature=65)", text)
        text = metric(self.at("nvidia-a100", 65), "energy_static")["provenance"]["text"]
        self.assertIn("has neither thermal.leakage", text)
        document = self.at(self.heated("sudden", {"thermal.throttle": (80, "°C")}), 81)
        self.assertIn("lower bounds", " ".join(document["warnings"]))
        text = metric(self.at("nvidia-a100", "sensor"), "energy")["provenance"]["text"]
        self.assertRegex(text, "no sensor of temperature can be read|at [0-9.]+ °C|has neither")

    def test_impossible_temperatures_are_refused(self):
        for wrong in ("hot", "-60", "151", "nan", "65C", ""):
            if wrong:
                self.assert_refused(2, [f"energy.temperature={wrong}", "sensor"], PLUGINS, "--set", f"energy.temperature={wrong}", RESNET)
        cold = self.heated("ends", {"thermal.throttle": (80, "°C"), "thermal.slowdown": (0.1, "1/K")})
        self.assert_refused(2, ["energy.temperature=90", "stands still"], PLUGINS, "--hardware", cold, "--set", "energy.temperature=90", RESNET)

    def test_the_table_of_regions(self):
        """Codes are sorted and unique; grams are possible (hydropower about 24, lignite alone about 1,100)."""
        text = (SOURCE / "plugins/metrics/energy/grid.cpp").read_text()
        rows = re.findall(r'^    \{"([A-Z]+)", "([^"]+)", (\d+), (\d+)\},$', text, re.M)
        codes = [code for code, *_ in rows if len(code) == 2 and code != "EU"]
        self.assertGreaterEqual(len(codes), 60)
        self.assertEqual(codes, sorted(set(codes)))
        for code, name, grams, year in rows:
            with self.subTest(code=code):
                self.assertTrue(20 <= int(grams) <= 1200)
                self.assertTrue(2022 <= int(year) <= 2026)


if __name__ == "__main__":
    main()
