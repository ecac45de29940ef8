"""Values of any library: what is not finite, how large they are, copies that nothing writes into."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from debugtracer.replay.fetch.values import copied, facts_of, is_bad, largest, mask_of


@dataclasses.dataclass
class Pair:
    left: Any
    right: Any


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        -math.inf,
        complex(0, math.inf),
        np.float32("nan"),
        np.array([1.0, np.inf], np.float16),
        np.array([1.0, np.nan], ">f4"),
        torch.tensor([1.0, math.nan], dtype=torch.bfloat16),
        torch.tensor([[0.0, math.inf]]).to_sparse(),
        {"x": [1, (2.0, math.nan)]},
        Pair(1.0, torch.tensor(math.inf)),
        Image.fromarray(np.full((2, 2), np.nan, np.float32)),
    ],
)
def test_what_is_not_finite_is_seen_in_any_library(value: Any):
    assert is_bad(value)


@pytest.mark.parametrize(
    "value",
    [
        1.0, 10**400, True, "nan", None, float, np.arange(3), np.array(["nan"]), torch.ones(3), [[1.0]], {"a": "inf"},
        Pair(1.0, 2), Image.new("L", (2, 2)), object(), np.datetime64("NaT"),
    ],
)  # fmt: skip
def test_what_is_finite_or_no_number_is_good(value: Any):
    assert not is_bad(value)


def test_a_mapping_that_raises_is_no_number():
    class Lazy(dict[str, float]):
        def values(self) -> Any:
            raise RuntimeError

    assert not is_bad(Lazy(a=math.nan))


@pytest.mark.parametrize(("value", "size"), [([-3.0, 2], 3.0), (np.array([1, -7]), 7.0), (torch.tensor([]), None)])
def test_the_largest_magnitude(value: Any, size: float | None):
    assert largest(value) == size


def test_infinities_do_not_count_as_large():
    assert largest([math.inf, 2.0]) == 2.0


@pytest.mark.parametrize("value", [np.ones(3), torch.ones(3), [np.ones(3)], {"x": torch.ones(3)}])
def test_a_copy_keeps_what_a_later_line_writes_over(value: Any):
    kept = copied(value)
    inner = value[0] if isinstance(value, list) else value["x"] if isinstance(value, dict) else value
    inner *= 5
    assert largest(kept) == 1.0


def test_facts_name_the_values_at_the_bad_places():
    divisor, result = np.array([1.0, 0.0]), torch.tensor([2.0, math.inf])
    facts = facts_of("spread", divisor, mask_of(result))
    assert facts is not None
    assert (facts.name, facts.shape, facts.dtype, facts.values, facts.low) == ("spread", (2,), "float64", (0.0,), 0.0)


def test_a_number_of_numpy_has_no_dimension():
    facts = facts_of("x", np.float64(2.0))
    assert facts is not None
    assert facts.shape == ()
