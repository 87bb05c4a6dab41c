"""The same weights give the same values in every file format."""
from support import FIXTURES, HAVE_TORCH, CliTest, main, report

FORMS = FIXTURES / "weight_forms"
WITHOUT_TORCH = ("net.safetensors", "state_dict.pt", "legacy.pt", "training.pt", "module.pt", "net.pt2")
TORCHSCRIPT = ("scripted.pt", "traced.pt")
# These depend on the place in the file, so they differ.
OF_THE_FILE = {"alignment", "cache_line_use"}


def results(name):
    """tensor → metric → value; the totals; the histograms by tensor."""
    document = report(FORMS / name, "--plugins=param-stats,quantization-advice,pruning-advice")
    ids = {m["id"] for m in document["metrics"] if m["axis"] == "tensor"} - OF_THE_FILE
    tensors = {t["name"]: {k: v for k, v in t["values"].items() if k in ids} for t in document["tensors"]}
    totals = {k: v for k, v in document["totals"].items() if k in ids}
    histograms = {d["of"]["tensor"]: (d["edges"], d["counts"]) for d in document["distributions"] if "tensor" in d["of"]}
    return tensors, totals, histograms


class WeightForms(CliTest):
    maxDiff = 2000

    def test_statistics_quantization_and_pruning_do_not_depend_on_the_form(self):
        tensors, totals, histograms = results("net.safetensors")
        self.assertEqual(len(tensors), 12)
        self.assertTrue(all(len(v) > 20 for n, v in tensors.items() if n.endswith("weight")), tensors)
        for name in WITHOUT_TORCH[1:] + (TORCHSCRIPT if HAVE_TORCH else ()):
            with self.subTest(form=name):
                others = results(name)
                # A form may hold more tensors (the constants of a graph), but not fewer or other ones.
                self.assertEqual({n: others[0].get(n) for n in tensors}, tensors)
                self.assertEqual({n: others[2].get(n) for n in histograms}, histograms)
                # Files order tensors differently, and the rounding of totals depends on the order.
                self.assertEqual({k: v is None for k, v in others[1].items()}, {k: v is None for k, v in totals.items()})
                for metric, total in totals.items():
                    if total is not None:
                        self.assertLessEqual(abs(others[1][metric] - total), 1e-12 * abs(total), metric)


    def test_options_that_need_operators_are_refused(self):
        for wish in (["--input", "1x3x8x8"], ["--by", "operator"]):
            self.assert_refused(2, [wish[0], "holds weights only"], FORMS / "state_dict.pt", *wish)


if __name__ == "__main__":
    main()
