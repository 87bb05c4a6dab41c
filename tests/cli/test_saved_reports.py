"""tmeter show reads files of any origin: damage, contradictions, absurd sizes and hostile names each get one line and
the documented status, with little memory and time. Reports of older versions are still read."""
import copy
import json
import resource
import subprocess
import unittest

from support import MODELS, SANITIZED, SANITIZES_THREADS, TMETER, CliTest, tmeter

KIB = 1 << 10
HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e\n|`\"'"


class Saved(CliTest):
    @classmethod
    def setUpClass(cls):
        done = tmeter(MODELS / "dynamic_mlp.pt2", "--plugins=params,flops,activations", "--sweep", "x.0=1,8", "--assert", "macs>0", "--report", "json")
        cls.good = json.loads(done.stdout)

    def changed(self, change):
        report = copy.deepcopy(self.good)
        change(report)
        return report

    def written(self, report, name="report.json"):
        return self.file(name, report if isinstance(report, (str, bytes)) else json.dumps(report))

    def refused(self, words, report):
        return self.assert_refused(4, ["report.json: ", *words], "show", self.written(report))


class Damage(Saved):
    def test_files_that_are_not_reports(self):
        for content, words in [
                ("{}", ["not a tmeter report", "--report json=FILE"]),
                ("[]", ["not a saved report", "a JSON object"]),
                ("\x80\x02}q", ["not a saved report", "a JSON object"]),
                ('{"schema": "tmeter-report/2"}', ["'tmeter-report/2'", "tmeter-report/1"]),
                ('{"schema": "tmeter-comparison/1"}', ["is not a report"]),
                ('{"schema": 7}', ["'schema' must be a string"]),
                ('{"schema": "tmeter-report/1"}', ["there is no 'model'"]),
                ('{"schema": "tmeter-report/1", "schema": "tmeter-report/1"}', ["'schema' occurs twice"]),
                ('{"schema": "tmeter-report/1"} x', ["nothing more is expected"]),
                ('{"schema" "tmeter-report/1"}', ["':' is expected"]),
                ('{schema: 1}', ["a key in quotes"]),
        ]:
            with self.subTest(content=content):
                self.refused(words, content)
        self.assert_refused(4, ["is empty"], "show", self.file("report.json"))
        self.assert_refused(4, ["no such file"], "show", self.folder / "none.json")
        self.assert_refused(4, ["not a tmeter report"], "show", self.file("config.json", '{"a": [1, 2]}'))

    def test_cut_anywhere(self):
        text = json.dumps(self.good)
        for part in range(1, 40):
            with self.subTest(part=part):
                self.refused(["this is not valid JSON"], text[:len(text) * part // 40])

    def test_not_utf8(self):
        self.refused(["UTF"], json.dumps(self.good).replace("Linear", "Lin\udcff").encode("utf-8", "surrogateescape"))

    def test_models_and_reports_are_distinguished(self):
        self.assert_refused(4, ["not a saved report", "`tmeter MODEL` analyses"], "show", MODELS / "dynamic_mlp.pt2")
        self.assert_refused(4, ["a saved report", "`tmeter show"], self.written(self.good))

    def test_wrong_types_and_missing_members(self):
        """Each member of the first row of each section is removed or has another type: the status is always 0 or 4."""
        for section, value in self.good.items():
            for wrong in (7, "x", [], {}, [1], {"a": 1}, True, None, 1e300, -1):
                self.try_one(lambda r: r.__setitem__(section, wrong), (section, wrong))
            self.try_one(lambda r: r.pop(section), (section, "gone"))
            rows = value if isinstance(value, list) else [value]
            if rows and isinstance(rows[0], dict):
                for key in rows[0]:
                    for wrong in (7, "x", [], {"a": 1}, None, -1, 1 << 62):
                        self.try_one(lambda r: self.first(r, section).__setitem__(key, wrong), (section, key, wrong))
                    self.try_one(lambda r: self.first(r, section).pop(key), (section, key, "gone"))

    @staticmethod
    def first(report, section):
        return report[section][0] if isinstance(report[section], list) else report[section]

    def try_one(self, change, label):
        path = self.written(self.changed(change))
        done = tmeter("show", path, "--report", "xml=" + str(self.folder / "x.xml"), "--report", "json=" + str(self.folder / "x.json"), "-q")
        self.assertIn(done.returncode, (0, 4), f"{label}: {done.stderr}")
        if done.returncode == 4:
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, label)
            self.assertTrue(done.stderr.startswith(f"tmeter: {path}: "), done.stderr)

    def test_errors_name_their_place(self):
        def change(report):
            del report["nodes"][1]["op"]
        self.refused(["nodes[1]: there is no 'op'"], self.changed(change))


class Lies(Saved):
    def test_dangling_references(self):
        first = self.good["nodes"][0]
        name = next(k for k, v in first["arguments"].items() if isinstance(v, dict) and "tensor" in v)
        for change, words in [
                (lambda r: r["nodes"][0]["arguments"][name].update(tensor="none"), ["nodes[0]", "'none'"]),
                (lambda r: r["nodes"][1]["arguments"].update(x={"dtype": "float32", "shape": [1], "node": 0, "result": 9}), ["nodes[1]", "node 0"]),
                (lambda r: r["nodes"][0]["arguments"].update(x={"dtype": "float32", "shape": [1], "node": 4_000_000}), ["node 4000000"]),
                (lambda r: r["nodes"][0].update(module_call=99), ["nodes[0]", "'module_call' is 99"]),
                (lambda r: r["nodes"][0].update(index=3), ["nodes[0]", "'index'"]),
                (lambda r: r["modules"][1].update(parent="7"), ["modules[1]", "pre-order"]),
                (lambda r: r["modules"][1].update(parent=None), ["modules[1]", "root"]),
                (lambda r: r["modules"][1].update(id="2"), ["modules[1]", "'1' is expected"]),
                (lambda r: r["modules"][1].update(calls=2), ["modules[1]", "'calls' is 2"]),
                (lambda r: r["modules"][1].update(repeat={"window": 1, "times": 999}), ["modules[1]", "starts a run"]),
                (lambda r: r["modules"][0].update(repeat={"window": 1, "times": 2}), ["modules[0]"]),
                (lambda r: r["tensors"][0].update(owner="none"), ["tensors[0]", "owner"]),
                (lambda r: r["tensors"][1].update(name=r["tensors"][0]["name"]), ["twice"]),
                (lambda r: r["nodes"][0]["values"].update(none=1), ["nodes[0]", "'none' is not among its 'metrics'"]),
                (lambda r: r["metrics"].append(r["metrics"][0]), ["twice"]),
                (lambda r: r["symbols"][0].update(value=5), ["is 5"]),
                (lambda r: r["sweep"]["points"].append([1, 2]), ["sweep"]),
                (lambda r: r["sweep"]["totals"].update(macs=[1]), ["sweep", "'macs'"]),
                (lambda r: r["assertions"][0].update(expression="nonsense"), ["nonsense"]),
                (lambda r: r["coverage"].update(counted=-1), ["'counted'"]),
                (lambda r: r["formulas"][0].update(module="none"), ["formulas[0]"]),
        ]:
            with self.subTest(words=words):
                self.refused(words, self.changed(change))

    def test_duplicate_keys(self):
        text = json.dumps(self.good)
        self.refused(["modules[0]", "'path' occurs twice"], text.replace('"path": ""', '"path": "", "path": ""', 1))

    def test_names_cannot_control_a_terminal(self):
        def change(report):
            report["model"]["name"] = report["warnings"][:] or HOSTILE
            report["model"]["name"] = HOSTILE
            report["warnings"].append(HOSTILE)
            report["nodes"][0]["op"] = "a::" + HOSTILE
        path = self.written(self.changed(change))
        for arguments in ([], ["--by=operator"], ["--report=full-text"], ["--report=markdown"], ["--report=github"]):
            done = tmeter("show", path, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("\x1b[31m", done.stdout)
            self.assertNotIn("\u202e", done.stdout)
        done = self.refused([], self.changed(lambda r: r["nodes"][0]["values"].update({HOSTILE: 1})))
        self.assertNotIn("\x1b", done.stderr)


class Absurd(Saved):
    """Small files that would take much memory or time."""

    def limited(self, report, *arguments, seconds=20, memory=1 << 30):
        path = self.written(report)
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        done = subprocess.run([TMETER, "show", path, f"--max-memory={memory}", *arguments], capture_output=True, text=True, timeout=120, preexec_fn=limits)
        self.assertEqual((done.returncode, len(done.stderr.strip().splitlines())), (4, 1), done.stderr[:500])
        return done.stderr

    def test_depth(self):
        deep = "[" * 100_000 + "]" * 100_000
        for section in ("metrics", "modules", "nodes", "config", "unknown"):
            with self.subTest(section=section):
                text = json.dumps(self.changed(lambda r: r.pop(section, None)))[:-1] + f', "{section}": [{deep}]}}'
                if section == "unknown":  # an unknown section costs nothing
                    self.assertEqual(tmeter("show", self.written(text), "-q").returncode, 0)
                else:
                    self.limited(text)
        def nested(report):
            value = []
            for _ in range(500):
                value = [value]
            report["nodes"][0]["arguments"]["x"] = value
        self.assertIn("nested more than 64 deep", self.limited(self.changed(nested)))
        self.assertIn("modules[1001]", self.limited(self.changed(lambda r: r.update(modules=self.chain(2_000)))))

    @staticmethod
    def chain(n):
        row = {"type": "M", "qualified_type": "M", "text": "M", "calls": 0, "children": [], "values": {}, "name": "m", "path": ""}
        ids = ["0", "1"]
        while len(ids) < n:
            ids.append(ids[-1] + ".1")
        return [dict(row, id=ids[i], parent=ids[i - 1] if i else None) for i in range(n)]

    def test_counts_beyond_the_content(self):
        calls = self.changed(lambda r: (r.pop("module_calls"), r["modules"][1].update(calls=4_999_999), r["modules"][2].update(calls=4_999_999)))
        self.assertIn("module calls", self.limited(calls, memory=4 << 30 if SANITIZES_THREADS else 1 << 30))
        self.assertIn("more calls", self.limited(self.changed(lambda r: r["modules"][1].update(calls=1 << 60))))
        self.assertIn("impossible shape", self.limited(self.changed(lambda r: r["tensors"][0].update(shape=[1 << 40, 1 << 40]))))

    def test_unwritten_cells_are_limited(self):
        """A value in the last of many rows allocates all cells before it."""
        def change(report):
            metric = report["metrics"][0]
            report["metrics"] += [dict(metric, id=f"m{i}") for i in range(4_000)]
            tensor = report["tensors"][0]
            report["tensors"] = [dict(tensor, index=i, name=f"t{i}", values={}) for i in range(30_000)]
            report["tensors"][-1]["values"] = {f"m{i}": 1 for i in range(4_000)}
            report["nodes"] = report["outputs"] = report["findings"] = report["formulas"] = []
        self.assertIn("100,000,000 cells", self.limited(self.changed(change), memory=4 << 30))

    def test_memory_is_limited(self):
        def change(report):
            report["warnings"] = ["x" * (1 << 20)] * 200
        message = "took more memory" if SANITIZED else "takes more memory"  # where no allocation fails, the supervisor notices
        self.assertIn(message, self.limited(self.changed(change), memory=64 << 20))

    def test_many_metrics(self):
        def change(report):
            report["metrics"] += [dict(report["metrics"][0], id=f"m{i}") for i in range(5_000)]
        self.assertIn("4,096 metrics", self.limited(self.changed(change)))


class Older(Saved):
    def older(self):
        """The report without the additions to tmeter-report/1 since its first version."""
        report = copy.deepcopy(self.good)
        for key in ("module_calls", "command"):
            report.pop(key)
        for m in report["metrics"]:
            m.pop("of_tensors")
        for row in report["nodes"]:
            for key in ("name", "module_call", "details", "result_details"):
                row.pop(key, None)
            for value in row["arguments"].values():
                if isinstance(value, dict):
                    value.pop("result", None)
        for value in report["outputs"]:
            for key in ("node", "result", "tensor", "input"):
                value.pop(key, None)
        return report

    def test_older_reports_are_shown_equally(self):
        new, old = self.written(self.good, "new.json"), self.written(self.older(), "old.json")
        for arguments in ([], ["--by=operator", "--depth=2"], ["--report=csv"], ["--report=markdown"], ["--report=xml"], ["--report=full-text"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(tmeter("show", old, *arguments).stdout, tmeter("show", new, *arguments).stdout)

    def test_unknown_members_are_ignored(self):
        def change(report):
            report["future"] = {"a": [1]}
            report["nodes"][0]["future"] = 1
            report["model"]["future"] = None
        self.assertEqual(tmeter("show", self.written(self.changed(change), "f.json")).stdout, tmeter("show", self.written(self.good, "g.json")).stdout)


class Command(Saved):
    def test_assert(self):
        path = self.written(self.good, "good.json")
        macs = self.good["totals"]["macs"]
        done = tmeter("show", path, "--assert", f"macs=={macs}", "--report", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(a["expression"], a["value"], a["holds"]) for a in json.loads(done.stdout)["assertions"]],
                         [("macs>0", macs, True), (f"macs=={macs}", macs, True)])
        done = tmeter("show", path, "--assert", "macs<=1", "--assert", "coverage==100%", "--report=json")
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"'macs<=1' (macs is {macs})", done.stderr)
        self.assertEqual([a["holds"] for a in json.loads(done.stdout)["assertions"]], [True, False, True])
        self.assert_refused(2, ["there is no metric 'mac'", "'macs'"], "show", path, "--assert", "mac<1")

    def test_the_status_depends_on_the_assertions_of_this_command(self):
        path = self.written(self.changed(lambda r: r["assertions"][0].update(expression="macs<1", holds=False)), "broken.json")
        done = tmeter("show", path, "--report", "junit")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('failures="1"', done.stdout)

    def test_options_that_need_a_model_are_refused(self):
        path = self.written(self.good, "good.json")
        for option in (["--input=1x2"], ["--bind=x.0=2"], ["--sweep=x.0=1,2"], ["--plugins=flops"], ["--hardware=x"], ["--trust"], ["--threads=2"]):
            with self.subTest(option=option):
                self.assert_refused(2, [option[0].split("=")[0], "needs the model"], "show", path, *option)
        self.assert_refused(2, ["no saved report is given"], "show")
        self.assert_refused(2, ["one saved report is expected"], "show", path, path)
        self.assert_refused(2, ["unknown report format"], "show", path, "--report=nothing")
        self.assert_refused(2, [], "show", path, f"--report=json={path}")

    def test_show_runs_in_the_sandbox(self):
        done = tmeter("show", self.written(self.good, "good.json"), "-v")
        self.assertIn("sandbox: ", done.stderr)


del Saved  # a base class, not a test

if __name__ == "__main__":
    unittest.main(verbosity=2)
