"""Lists that were filled from the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.backward_list import filled_from_the_end
from debugtracer.trace.birth import Frame

HEAD = "total, sums = 0.0, []\n"


def found(tmp_path: Path, text: str) -> Frame | None:
    file = tmp_path / "train.py"
    file.write_text(text)
    line = next(n for n, code in enumerate(text.splitlines(), 1) if "tensor(" in code)
    return filled_from_the_end([Frame(str(file), line, "<module>", "")], "tensor")


@pytest.mark.parametrize("order", ["reversed(rewards)", "rewards[::-1]", "enumerate(reversed(rewards))"])
def test_the_line_that_appends_is_found(tmp_path, order):
    text = f"{HEAD}for reward in {order}:\n    total = reward + 0.9 * total\n    sums.append(total)\nx = tensor(sums)\n"
    frame = found(tmp_path, text)
    assert frame is not None and (frame.line, frame.code) == (4, "sums.append(total)")


def test_it_is_followed_into_the_function_that_returns_the_list(tmp_path):
    text = (
        "def returns(rewards):\n    total, sums = 0.0, []\n    for t in range(9, -1, -1):\n"
        "        total = rewards[t] + total\n        sums.append(total)\n    return sums\n"
        "made = returns(rewards)\nx = tensor(np.array(made))\n"
    )
    frame = found(tmp_path, text)
    assert frame is not None and (frame.line, frame.function) == (5, "returns")


LOOP = f"{HEAD}for reward in reversed(rewards):\n    total = reward + 0.9 * total\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{LOOP}    sums.insert(0, total)\nx = tensor(sums)\n",
        f"{LOOP}    sums.append(total)\nsums.reverse()\nx = tensor(sums)\n",
        f"{LOOP}    sums.append(total)\nx = tensor(sums[::-1])\n",
        f"{LOOP}    sums.append(total)\nsums = sums[::-1]\nx = tensor(sums)\n",
        f"{LOOP}    sums.append(total)\nx = tensor(list(reversed(sums)))\n",
        f"{LOOP}    sums.append(reward)\nx = tensor(sums)\n",
        LOOP.replace("reversed(rewards)", "rewards") + "    sums.append(total)\nx = tensor(sums)\n",
        "x = tensor([1.0, 2.0])\n",
    ],
)
def test_a_list_that_is_turned_round_or_filled_otherwise_is_not(tmp_path, text):
    assert found(tmp_path, text) is None
