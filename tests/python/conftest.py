"""Shared by the tests of the Python package. They run in the venv with the installed wheel."""

import os
from pathlib import Path

import pytest

FIXTURES = Path(os.environ["FIXTURES"])


@pytest.fixture
def resnet50() -> Path:
    return FIXTURES / "models/resnet50.pt2"
