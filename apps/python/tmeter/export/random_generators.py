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
from .source_lines import is_user_file

#: Words of a Mersenne twister's state that give 0 and 2³² − 1 after tempering.
EXTREME_WORDS = (0x00000000, 0x12DD9BB3)
#: The later words differ, because a loop that draws until a number fits has to end.
_EQUAL_WORDS, _STATE_WORDS = 300, 624


class RandomGenerators:
    """The generators that a model may use, and their present states."""

    def __init__(self, model: nn.Module) -> None:
        self._has_own = any(True for _ in _module_generators(model))
        self._shared_generators = list(_shared_generators(model))
        self._states_before = self._states()

    def were_used(self) -> bool:
        """Whether numbers may have been drawn since. The model's own generators count as used: their copies draw."""
        return self._has_own or pickle.dumps(self._states()) != pickle.dumps(self._states_before)

    def set_extreme(self, copied_model: nn.Module, word: int) -> None:
        """Makes the generators return `word` until `restore`. Of numpy's generators, this works for Mersenne twisters."""
        for table, name, generator in _module_generators(copied_model):
            if isinstance(generator, random.Random):
                generator.setstate(_python_state(word))
            else:
                table[name] = type(generator)(_mersenne_twister(word))
        for generator in self._shared_generators:
            if isinstance(generator, random.Random):
                generator.setstate(_python_state(word))
            elif hasattr(generator, "set_state"):
                generator.set_state(_mersenne_twister(word).state)

    def restore(self) -> None:
        for generator, state in zip(self._shared_generators, self._states_before):
            if isinstance(generator, random.Random):
                generator.setstate(state)
            elif hasattr(generator, "set_state"):
                generator.set_state(state)
            else:
                generator.bit_generator.state = state

    def _states(self) -> list[Any]:
        return [_state(generator) for generator in self._shared_generators]


def _state(generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return generator.getstate()
    legacy = hasattr(generator, "get_state")
    return generator.get_state(legacy=False) if legacy else generator.bit_generator.state


def _state_words(word: int) -> list[int]:
    rest = random.Random(0)
    return [word] * _EQUAL_WORDS + [rest.getrandbits(32) for _ in range(_STATE_WORDS - _EQUAL_WORDS)]


def _python_state(word: int) -> tuple[int, tuple[int, ...], None]:
    return 3, (*_state_words(word), 0), None


def _mersenne_twister(word: int) -> Any:
    numpy: Any = sys.modules["numpy"]  # imported already, because a generator of it exists
    bit_generator = numpy.random.MT19937()
    key = numpy.array(_state_words(word), dtype=numpy.uint32)
    bit_generator.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 0}}
    return bit_generator


def _generator_types() -> tuple[type, ...]:
    numpy_random: Any = sys.modules.get("numpy.random")
    return (random.Random, *((numpy_random.Generator, numpy_random.RandomState) if numpy_random else ()))


#: The most frequent types of module attributes, none of them a generator.
_NOT_GENERATORS = frozenset((type(None), bool, int, float, str, tuple, list, dict, OrderedDict, set))


def _module_generators(model: nn.Module) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Generators in attributes of modules. A copy of the model has copies of them."""
    generator_types = _generator_types()
    for module in modules_of(model):
        table = vars(module)
        candidates = [(n, v) for n, v in table.items() if type(v) not in _NOT_GENERATORS]
        for name, value in candidates:
            if isinstance(value, generator_types):
                yield table, name, value


def _shared_generators(model: nn.Module) -> Iterator[Any]:
    """The generators of Python and numpy, and global ones of the files that define the model's classes."""
    generator_types = _generator_types()
    found: dict[int, Any] = {id(random._inst): random._inst}
    numpy_random: Any = sys.modules.get("numpy.random")
    if numpy_random is not None:
        found[id(numpy_random.mtrand._rand)] = numpy_random.mtrand._rand
    for name in {type(module).__module__ for module in modules_of(model)}:
        source_module = sys.modules.get(name)
        if source_module is not None and is_user_file(getattr(source_module, "__file__", None) or ""):
            found |= {id(v): v for v in list(vars(source_module).values()) if isinstance(v, generator_types)}
    yield from found.values()
