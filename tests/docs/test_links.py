"""Pages cite existing files: links, their anchors, and paths in `code`. Their code blocks are closed."""
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NOT_OURS = ("sdk/templates/", "tests/unit/reports/golden/")  # of a project that `tmeter plugin new` makes; expected reports
PAGES = [SOURCE / name for name in subprocess.run(["git", "-C", SOURCE, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                                                  capture_output=True, text=True, check=True).stdout.split() if (SOURCE / name).exists() and not name.startswith(NOT_OURS)]
LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^( *)```.*?^\1```", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^ *```(\w*)", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
ROOMS = ("apps/", "core/", "docs/", "plugins/", "sdk/", "tests/", ".ci/", ".dev/")
HISTORY = ("CHANGELOG.md",)  # names files that existed at the time


def anchors(page):
    """The anchors that GitHub makes from headings."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


class Blocks(unittest.TestCase):
    def test_each_block_is_closed_before_the_next_one(self):
        for page in PAGES:
            fences = FENCE.findall(page.read_text(encoding="utf-8"))
            name = page.relative_to(SOURCE)
            self.assertEqual(len(fences) % 2, 0, f"{name}: a ``` is missing")
            self.assertEqual([language for language in fences[1::2] if language], [], f"{name}: a ``` is missing before a block")


class Links(unittest.TestCase):
    def test_links_lead_to_existing_targets(self):
        for page in PAGES:
            text = BLOCK.sub("", page.read_text(encoding="utf-8"))
            for target in LINK.findall(text):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                file = (page.parent / name) if name else page
                self.assertTrue(file.exists(), f"{page.relative_to(SOURCE)}: {target}")
                if anchor and file.suffix == ".md":
                    self.assertIn(anchor, anchors(file), f"{page.relative_to(SOURCE)}: {target}")

    def test_paths_in_code_are_in_the_repository(self):
        for page in PAGES:
            name = str(page.relative_to(SOURCE))
            if name in HISTORY:
                continue
            for code in CODE.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
                path = re.split(r"[ :#,]", code)[0].rstrip("/")
                if not path.startswith(ROOMS) or re.search(r"[<>{}…A-Z]{3,}|…", path):
                    continue
                found = list(SOURCE.glob(path)) if "*" in path else [SOURCE / path] if (SOURCE / path).exists() else []
                self.assertTrue(found, f"{name}: `{code}` is not in the repository")


if __name__ == "__main__":
    unittest.main()
