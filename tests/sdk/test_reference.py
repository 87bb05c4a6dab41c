"""The reference of the SDK's C headers can be generated, and every symbol has a comment."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE"])


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Reference(unittest.TestCase):
    def doxygen(self, headers, folder):
        """The steps of `./dev docs` for these headers, into a folder of its own."""
        rules = (SOURCE / "docs/reference/Doxyfile").read_text() + f"\nINPUT = {headers} docs/abi.md\nOUTPUT_DIRECTORY = {folder}\n"
        return subprocess.run(["doxygen", "-"], input=rules, capture_output=True, text=True, cwd=SOURCE, check=False)

    def test_everything_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.doxygen("sdk/include/tmeter/abi", folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            page = (pathlib.Path(folder) / "html/call_8h.html").read_text()
            self.assertIn("ends when the function returns", page)
            pages = pathlib.Path(folder) / "html"
            self.assertIn("<code>--trust</code>", (pages / "structtmeter__request__api.html").read_text())  # no dash
            self.assertRegex((pages / "loader_8h.html").read_text(), r'(?s)<pre class="fragment">[^<]*magic:HEX')

    def test_a_function_without_a_comment_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "new.h"
            header.write_text("/* A header. */\n/* A table. */\ntypedef struct t {\n  int (*told)(void); /* It is. */\n  int (*untold)(void);\n} t;\n")
            done = self.doxygen(header, folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("untold", done.stderr)
            self.assertNotIn("Member told", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
