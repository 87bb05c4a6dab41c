"""./dev prose finds nothing in the clean rooms (prose_rooms.txt), and finds each of its phrases in the phrase's example."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import prose  # noqa: E402

# English that resembles a phrase of the table.
RIGHT = [
    "The report says what is counted.", "what is it good for?", "It shows what was found in the file.", "There is no such file.",
    "The value is used to choose a loader.", "so many that it fails", "no more than two",
    "names of the operators and those of modules", "a library asked for by name", "there is no operator without a handler",
]


class Phrases(unittest.TestCase):
    def found(self, text, suffix=".md"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"file{suffix}"
            path.write_text(text, encoding="utf-8")
            return [(f.line, f.found) for f in prose.findings_in(path, path.name, prose.patterns())]

    def test_each_is_found_in_its_example(self):
        for pattern in prose.patterns():
            with self.subTest(pattern.found.pattern):
                self.assertTrue(pattern.found.search(f"# {pattern.example}."))

    def test_plain_english_is_left_alone(self):
        for sentence in RIGHT:
            self.assertEqual(self.found(sentence + "\n"), [], sentence)

    def test_comments_and_texts_are_checked(self):
        expected = [(2, "somebody")]
        self.assertEqual(self.found("int a;\n// for somebody\nint somebody;\n", ".cpp"), expected)
        self.assertEqual(self.found('f();\nauto s = "x somebody";\n', ".hpp"), expected)
        self.assertEqual(self.found('somebody = 1\n"""For somebody."""\n', ".py"), expected)
        self.assertEqual(self.found("let somebody = 1;\n/* of somebody */\n", ".ts"), expected)
        self.assertEqual(self.found("set(somebody 1)\n# of somebody\n", ".cmake"), expected)
        self.assertEqual(self.found("```\nsomebody\n```\n`somebody`\n", ".md"), [])

    def test_a_phrase_may_continue_on_the_next_line(self):
        self.assertEqual(self.found("// a column on so\n// many threads\n", ".cpp"), [(1, "so many")])
        self.assertEqual(self.found('f("on so "\n  "many threads");\n', ".cpp"), [(1, "so many")])
        self.assertEqual(self.found("  // a column on so\n  // many threads\n", ".cpp"), [(1, "so many")])
        self.assertEqual(self.found('g("there", 1);\nf("in");\n', ".cpp"), [])
        self.assertEqual(self.found("on so\n\nmany threads\n"), [])

    def test_exceptions_name_existing_places(self):
        phrases = prose.patterns()
        for name, phrase, why in prose.rows("prose_allowed.txt"):
            self.assertTrue(why)
            found = [f.found.lower() for f in prose.findings_in(prose.SOURCE / name, name, phrases)]
            self.assertIn(phrase.lower(), found, f"{name}: remove the exception")

    def test_the_clean_rooms(self):
        self.assertEqual([str(finding) for finding in prose.findings()], [])


if __name__ == "__main__":
    unittest.main()
