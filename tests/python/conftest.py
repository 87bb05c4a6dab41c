"""What the tests of the Python package share. They run in the venv into which the wheel is installed."""

import os
from pathlib import Path

import pytest

FIXTURES = Path(os.environ["FIXTURES"])


@pytest.fixture
def resnet50() -> Path:
    return FIXTURES / "models/resnet50.pt2"
