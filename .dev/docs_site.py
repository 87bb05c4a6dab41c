"""Hooks of mkdocs.yml: README.md becomes the first page, mkdocstrings makes the Python API, and links out of docs/ become text."""

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]

LINK = re.compile(r"(!?)\[([^]]*)\]\(([^)\s]+)\)")  # or an image
REFERENCE = """# Reference of the C headers

Doxygen makes <a href="html/index.html">the reference</a> from the headers of the SDK: every struct and function with its units,
errors, ownership and threads. The headers are in `include/tmeter` of an installed SDK ([install-sdk.md](install-sdk.md)).
"""


def on_files(files, config):
    files.append(File.generated(config, "index.md", content=(ROOT / "README.md").read_text(encoding="utf-8")))
    files.append(File.generated(config, "sdk-reference.md", content=REFERENCE))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri == "python-api.md":
        return python_api()
    home = "." if page.file.src_uri == "index.md" else posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def inside(match):
        mark, text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, hash_mark, anchor = target.partition("#")
        where = posixpath.normpath(posixpath.join(home, path))
        if where == "README.md":
            where = "docs/index.md"
        if not where.startswith("docs/") or files.get_file_from_path(where[5:]) is None:
            return text
        return f"{mark}[{text}]({posixpath.relpath(where[5:], posixpath.dirname(page.file.src_uri) or '.')}{hash_mark}{anchor})"

    return LINK.sub(inside, markdown)


def python_api():
    sys.path.insert(0, str(ROOT / "tests/python"))
    import api_page

    lines = ["# Python API", ""]
    for module, names in api_page.PAGE.items():
        lines += [f"## `{module}`", ""]
        if names is None:
            lines += [f"::: {module}", ""]
        for name in names or ():
            lines += [f"::: {module}.{name}", ""]
    return "\n".join(lines)
