"""Spectral norms of the weights in all fixtures are those of NumPy's SVD: tests/bench/spectral_norms.py."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(os.environ["SOURCE"]) / "tests/bench"))
import spectral_norms

FIXTURES = Path(os.environ["FIXTURES"])
PROGRAM = str(Path(os.environ["BUILD"]) / "bin/tmeter")
TRAINED = FIXTURES / "trained/model.safetensors"


@pytest.fixture(scope="module", autouse=True)
def stand_ins() -> None:
    spectral_norms.add_stand_in()


def test_every_norm_is_numpys():
    found = {f: spectral_norms.errors_of(f, PROGRAM) for f in spectral_norms.fixtures()}
    assert not [f"{f.relative_to(FIXTURES)}: {p}" for f, errors in found.items() for p in errors.problems()]
    with_norms = [f for f, errors in found.items() if errors.now]
    assert {f.suffix for f in with_norms} == set(spectral_norms.SUFFIXES)
    assert sum(len(found[f].now) for f in with_norms) > 300


def altered(tmp_path: Path, factor: float) -> str:
    """A program whose norms are tmeter's times the factor."""
    program = tmp_path / f"times_{factor}"
    program.write_text(
        f"#!{sys.executable}\nimport json, subprocess, sys\n"
        f"report = json.loads(subprocess.run([{PROGRAM!r}, *sys.argv[1:]], capture_output=True).stdout)\n"
        "for t in report['tensors']:\n"
        "    if t['values'].get('spectral_norm'): t['values']['spectral_norm'] *= "
        f"{factor}\nprint(json.dumps(report))\n"
    )
    program.chmod(0o755)
    return str(program)


def test_a_wrong_norm_is_noticed(tmp_path: Path):
    wrong = altered(tmp_path, 1 + 1e-5)
    tensors = spectral_norms.norms_of(PROGRAM, TRAINED)
    assert len(tensors) == len(spectral_norms.errors_of(TRAINED, wrong).problems()) == 13
    further = spectral_norms.errors_of(TRAINED, altered(tmp_path, 1 + 1e-8), before=PROGRAM)
    assert len(further.problems()) == 13
    assert not spectral_norms.errors_of(TRAINED, PROGRAM, before=wrong).problems()


def test_other_digits_on_another_processor_are_noticed(tmp_path: Path):
    last_digit = altered(tmp_path, 1 + 2**-51)
    problems = spectral_norms.errors_of(TRAINED, PROGRAM, same=(PROGRAM, last_digit)).problems()
    assert len(problems) == 13 and all(p.startswith(last_digit) for p in problems)
