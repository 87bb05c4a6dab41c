"""Packages of PyPI for single tests, in cache folders outside of the tests' environment."""

import hashlib
import os
import pathlib
import subprocess
import sys

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tmeter"


def installed(name):
    """The folder with the packages of this list, made once, or the reason for a failure (no network)."""
    requirements = pathlib.Path(__file__).with_name(f"{name}.txt")
    folder = CACHE / f"{name}-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"
    if not (folder / "complete").exists():
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, "-r", requirements],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return None, done.stderr.strip()[-200:]
        (folder / "complete").touch()
    return folder, ""
