"""The documentation builds as a site, strictly, and its first page exists."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("TMETER_DOCS_PYTHON")


@unittest.skipUnless(PYTHON, "needs the venv of tests/docs/requirements.txt")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tmeter-site-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.site = pathlib.Path(cls.folder.name)
        cls.done = subprocess.run([PYTHON, "-m", "mkdocs", "build", "--strict", "--site-dir", cls.site], cwd=SOURCE,
                                  capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})

    def test_the_site_builds_without_a_warning(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertNotIn("WARNING", self.done.stderr)

    def test_every_page_is_in_the_navigation(self):
        listed = set(re.findall(r"[\w./-]+\.md", (SOURCE / "mkdocs.yml").read_text()))
        pages = {str(p.relative_to(SOURCE / "docs")) for p in (SOURCE / "docs").rglob("*.md")
                 if "examples" not in p.parts and "reference" not in p.parts}
        self.assertEqual(pages - listed, set())

    def test_the_first_page_is_the_readme_with_links(self):
        page = (self.site / "index.html").read_text()
        self.assertIn("./dev demo", page)
        for target in ("tour.html", "cookbook.html", "conventions.html"):
            self.assertIn(f'href="{target}"', page)

    def test_the_python_api_is_made_from_the_docstrings(self):
        page = (self.site / "python-api.html").read_text()
        for name in ("tmeter.analyze", "tmeter.Result", "tmeter.compat.torchstat.stat"):
            self.assertIn(f'id="{name}"', page)

    def test_search_finds_a_convention(self):
        self.assertIn("multiply-accumulate", (self.site / "search/search_index.json").read_text().lower())

    def test_nothing_is_loaded_from_elsewhere(self):
        for page in self.site.rglob("*.html"):
            outside = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', page.read_text())
            self.assertEqual([o for o in outside if "canonical" not in o], [], page.name)


if __name__ == "__main__":
    unittest.main()
