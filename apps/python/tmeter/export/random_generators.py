"""Determines whether random numbers of Python or numpy decide which operators forward calls.

Fake tensors do not show such numbers. So the model runs twice more, with generators that return the lowest and the
highest numbers: every threshold is between the two.
"""

from __future__ import annotations

import pickle
import random
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from torch import nn

from .modules import modules_of
from .source_lines import is_file_of_others

#: Words of a Mersenne twister's state that give 0 and 2³² − 1 after tempering.
EXTREMES = (0x00000000, 0x12DD9BB3)
#: The later words differ, because a loop that draws until a number fits has to end.
_ALIKE, _ALL = 300, 624


class Draws:
    """The generators that a model may use, and their present states."""

    def __init__(self, model: nn.Module) -> None:
        self._own = any(True for _ in _own(model))
        self._shared = list(_shared(model))
        self._before = self._states()

    def any(self) -> bool:
        """Whether numbers may have been drawn since. The model's own generators count as used: their copies draw."""
        return self._own or pickle.dumps(self._states()) != pickle.dumps(self._before)

    def make_extreme(self, shadow: nn.Module, word: int) -> None:
        """Makes the generators return `word` until `set_back`. Of numpy's generators, this works for Mersenne twisters."""
        for table, name, generator in _own(shadow):
            if isinstance(generator, random.Random):
                generator.setstate(_python_state(word))
            else:
                table[name] = type(generator)(_twister(word))
        for generator in self._shared:
            if isinstance(generator, random.Random):
                generator.setstate(_python_state(word))
            elif hasattr(generator, "set_state"):
                generator.set_state(_twister(word).state)

    def set_back(self) -> None:
        for generator, state in zip(self._shared, self._before):
            if isinstance(generator, random.Random):
                generator.setstate(state)
            elif hasattr(generator, "set_state"):
                generator.set_state(state)
            else:
                generator.bit_generator.state = state

    def _states(self) -> list[Any]:
        return [_state(generator) for generator in self._shared]


def _state(generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return generator.getstate()
    legacy = hasattr(generator, "get_state")
    return generator.get_state(legacy=False) if legacy else generator.bit_generator.state


def _words(word: int) -> list[int]:
    others = random.Random(0)
    return [word] * _ALIKE + [others.getrandbits(32) for _ in range(_ALL - _ALIKE)]


def _python_state(word: int) -> tuple[int, tuple[int, ...], None]:
    return 3, (*_words(word), 0), None


def _twister(word: int) -> Any:
    numpy: Any = sys.modules["numpy"]  # imported already, because a generator of it exists
    bits = numpy.random.MT19937()
    key = numpy.array(_words(word), dtype=numpy.uint32)
    bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 0}}
    return bits


def _kinds() -> tuple[type, ...]:
    numpy_random: Any = sys.modules.get("numpy.random")
    return (random.Random, *((numpy_random.Generator, numpy_random.RandomState) if numpy_random else ()))


#: The most frequent types of module attributes, none of them a generator.
_NONE_OF_THEM = frozenset((type(None), bool, int, float, str, tuple, list, dict, OrderedDict, set))


def _own(model: nn.Module) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Generators in attributes of modules. A copy of the model has copies of them."""
    kinds = _kinds()
    for module in modules_of(model):
        table = vars(module)
        other = [(n, v) for n, v in table.items() if type(v) not in _NONE_OF_THEM]
        for name, value in other:
            if isinstance(value, kinds):
                yield table, name, value


def _shared(model: nn.Module) -> Iterator[Any]:
    """The generators of Python and numpy, and global ones of the files that define the model's classes."""
    kinds = _kinds()
    found: dict[int, Any] = {id(random._inst): random._inst}
    numpy_random: Any = sys.modules.get("numpy.random")
    if numpy_random is not None:
        found[id(numpy_random.mtrand._rand)] = numpy_random.mtrand._rand
    for name in {type(module).__module__ for module in modules_of(model)}:
        source = sys.modules.get(name)
        if source is not None and is_file_of_others(getattr(source, "__file__", None) or ""):
            found |= {id(v): v for v in list(vars(source).values()) if isinstance(v, kinds)}
    yield from found.values()
