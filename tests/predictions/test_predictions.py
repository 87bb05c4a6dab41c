"""docs/predictions.md is as tmeter predicts now, and the roofline is a lower bound of each measured time."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import scoreboard  # noqa: E402


class Predictions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cases = list(scoreboard.cases())

    def test_the_page(self):
        self.assertEqual(scoreboard.page(self.cases), scoreboard.PAGE.read_text(encoding="utf-8"), "python tests/predictions/scoreboard.py --write")

    def test_lower_bound(self):
        self.assertEqual(len(self.cases), 27)
        for model, batch, gpu, measured, predicted in self.cases:
            with self.subTest(model=model, batch=batch, gpu=gpu):
                self.assertLess(predicted, measured)

    def test_one_share_holds_for_a_card(self):
        share = scoreboard.share_of(self.cases)
        errors = {gpu: (median, worst) for gpu, _, _, _, median, worst in scoreboard.summary(self.cases, share)}
        self.assertLess(errors[scoreboard.FITTED_ON][0], 5)
        self.assertLess(errors[scoreboard.FITTED_ON][1], 15)


if __name__ == "__main__":
    unittest.main()
