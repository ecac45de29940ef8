"""Which line gives an average of weights its share."""

from __future__ import annotations

import pytest

from debugtracer.callsites.origins.share_line import share_line
from debugtracer.trace.birth import Frame

CASES = {
    "a constant": ("D = 0.9\n\na.mul_(D).add_(p, alpha=1 - D)\n", (3,), 1),
    "the share itself": ("tau = 0.1\na.lerp_(p, tau)\n", (2,), 1),
    "over a name": ("D = 0.9\ns = 1 - D\na.lerp_(p, s)\n", (3,), 1),
    "written out": ("a.mul_(0.9).add_(p, alpha=0.1)\n", (1,), None),
    "default of an argument": ("def f(a, p, d=0.9):\n    a.lerp_(p, 1 - d)\n\nf(a, p)\n", (2, 4), 1),
    "passed": ("def f(a, p, d):\n    a.lerp_(p, 1 - d)\n\nf(a, p, 0.9)\n", (2, 4), 4),
    "computed by a function": (
        "def d(n):\n    return max(0.9, n / (n + 10))\n\nk = d(n)\na.sub_((1 - k) * (a - p))\n",
        (5,),
        2,
    ),
    "the maximum of two returns": (
        "def d(n):\n    if n:\n        return max(M, n / (n + 10))\n    return M\n\na.lerp_(p, 1 - d(n))\n",
        (6,),
        3,
    ),
    "the only return that has the number": (
        "M = 0.9\n\ndef d(n):\n    if n:\n        return min(M, n / (n + 10))\n    return M\n\na.lerp_(p, 1 - d(n))\n",
        (8,),
        1,
    ),
    "another number": ("D = 0.5\na.lerp_(p, 1 - D)\n", (2,), None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_line_of_the_number(tmp_path, case):
    text, lines, expected = CASES[case]
    file = tmp_path / "train.py"
    file.write_text(text)
    found = share_line([Frame(str(file), one) for one in lines], 0.9)
    assert (found.line if found is not None else None) == expected


def test_nothing_without_a_line():
    assert share_line([], 0.9) is None
