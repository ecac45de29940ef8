"""The line that divides data by their own maximum."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.maximum_line import maximum_line

CASES = {
    "a method": ("import numpy as np\nx = x / x.max()\n", 2),
    "a function": ("x = x / np.max(x)\n", 1),
    "a name": ("def scaled(x):\n    top = np.max(x)\n    return x / top\n", 3),
    "in place": ("x /= x.amax()\n", 1),
    "the size": ("x = x / np.abs(x).max()\n", None),
    "the size as a method": ("x = x / x.abs().max()\n", 1),
    "between both": ("x = (x - x.min()) / (x.max() - x.min())\n", 1),
    "with a small number": ("x = x / (x.max() + 1e-8)\n", 1),
    "a scaler": ("from sklearn.preprocessing import MinMaxScaler\nx = MinMaxScaler().fit_transform(x)\n", 2),
    "another": ("x = x / y.max()\n", None),
    "the larger of two": ("x = x / max(1, n)\n", None),
    "a number": ("x = x / 255\n", None),
    "two of them": ("x = x / x.max()\ny = y / y.max()\n", None),
}


@pytest.mark.parametrize("case", CASES)
def test_only_a_division_by_the_own_maximum_is_named(tmp_path: Path, case: str) -> None:
    text, line = CASES[case]
    file = tmp_path / "data.py"
    file.write_text(text)
    found = maximum_line([str(file)])
    assert (found.line if found is not None else None) == line
