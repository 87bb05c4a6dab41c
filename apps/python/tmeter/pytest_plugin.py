"""A fixture for tests that hold models to budgets. pytest finds it where tmeter is installed.

>>> def test_model_stays_small(tmeter_budget):   # doctest: +SKIP
...     tmeter_budget(make_model(), "macs<=5G", "params<=30M", inputs=(3, 224, 224))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .result import Result


@pytest.fixture
def tmeter_budget() -> Callable[..., Result]:
    """``tmeter_budget(model_or_path, *bounds, **options)``: options are those of `tmeter.analyze`.

    Returns the result; a bound that does not hold fails the test with all values.
    """

    def check(model: Any, *bounds: str, **options: Any) -> Result:
        __tracebackhide__ = True
        import tmeter

        result = tmeter.analyze(model, **options)
        try:
            return result.assert_(*bounds)
        except tmeter.BudgetError as error:
            pytest.fail(str(error), pytrace=False)

    return check
