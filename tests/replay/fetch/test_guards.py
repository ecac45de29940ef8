"""A guard in the words of the library that the line uses, kept only where it makes the expression finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from debugtracer.replay.fetch.guards import guarded_line
from debugtracer.replay.fetch.kinds import kind_of
from tests.replay.fetch.test_kinds import origin


@pytest.mark.parametrize(
    ("text", "held", "before", "line"),
    [
        ("x / s", {"x": np.zeros(2), "s": np.zeros(2)}, "s = x.std()", "return x / np.maximum(s, 1e-6)"),
        ("x / x.std()", {"x": torch.zeros(2)}, "", "return x / x.std().clamp_min(1e-6)"),
        ("np.log(x)", {"x": np.zeros(2)}, "", "return np.log(np.maximum(x, 1e-10))"),
        ("x.log()", {"x": torch.zeros(2)}, "", "return x.clamp_min(1e-10).log()"),
        ("x.half()", {"x": torch.tensor([1e6])}, "", "return x.float()"),
        ("x.astype('float16')", {"x": np.array([1e6])}, "", 'return x.astype("float32")'),
        ("np.log(x)", {"x": np.array([-1.0])}, "", ""),
        ("x / s", {"x": np.ones(2), "s": np.zeros(2)}, "s = x.sum()", ""),
    ],
)
def test_the_line_with_its_guard(text: str, held: dict[str, Any], before: str, line: str):
    made = origin(text, held, before)
    with np.errstate(all="ignore"):
        assert guarded_line(made, kind_of(made)) == line
