"""The budgets of budget.py hold, and an exceeded limit is found."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import budget  # noqa: E402

TMETER = pathlib.Path(os.environ["TMETER"])
HAVE_TORCH = os.environ.get("HAVE_TORCH", "1") == "1"


class Budgets(unittest.TestCase):
    def test_each_budget_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            for one in budget.BUDGETS:
                if one.slow or ("TorchScript" in one.name and not HAVE_TORCH):
                    continue
                with self.subTest(one.name):
                    best = budget.run(one, TMETER, pathlib.Path(folder))
                    print(budget.row(one, best), file=sys.stderr)
                    self.assertEqual(best.missed, [])


class Limits(unittest.TestCase):
    def test_every_kind_of_limit_is_checked(self):
        best = budget.Measured(seconds=2, megabytes=20, rate=2, slowness=1, missed=[])
        for limits in ({"seconds": 1}, {"megabytes": 10}, {"rate": 4}):
            self.assertEqual(len(budget.misses(budget.Budget("", "", **limits), best, 1)), 1, limits)
        self.assertEqual(budget.misses(budget.Budget("", "", seconds=3, megabytes=30, rate=1), best, 1), [])

    def test_a_slow_machine_gets_more_time_but_not_more_memory(self):
        best = budget.Measured(seconds=2, megabytes=20, rate=2, slowness=1, missed=[])
        self.assertEqual(budget.misses(budget.Budget("", "", seconds=1.5, rate=3), best, 2), [])
        self.assertEqual(len(budget.misses(budget.Budget("", "", megabytes=15), best, 2)), 1)


if __name__ == "__main__":
    unittest.main()
