"""Inputs and targets that were each put in a random order of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins import drawn_orders
from debugtracer.callsites.origins.drawn_orders import drawn_apart
from debugtracer.trace.birth import Frame

LOOP = "for i in range(0, 9, 3):\n    out = net(x[i : i + 3])\n    loss = F.mse_loss(out, y[i : i + 3])\n"
CASES = {
    "by an index each": (f"x = x[torch.randperm(9)]\ny = y[torch.randperm(9)]\n{LOOP}", (1, 2)),
    "by an index with a name": (
        f"p = rng.permutation(9)\nx = data[p]\nq = rng.permutation(9)\ny = torch.from_numpy(table[q])\n{LOOP}",
        (1, 3),
    ),
    "in place": (f"x = list(a)\ny = list(b)\nrandom.shuffle(x)\nrandom.shuffle(y)\n{LOOP}", (3, 4)),
    "in place, and both made tensors on one line": (
        f"x = list(a)\ny = list(b)\nshuffle(x)\nshuffle(y)\nx, y = torch.stack(x), torch.tensor(y)\n{LOOP}",
        (3, 4),
    ),
    "in a function": (
        "def fit(x, y):\n    loss = F.mse_loss(net(x), y)\nx = x[torch.randperm(9)]\ny = y[torch.randperm(9)]\n"
        "fit(x, y)\n",
        (3, 4),
    ),
    "by one order": (f"p = torch.randperm(9)\nx, y = x[p], y[p]\n{LOOP}", None),
    "by one call": (f"x, y = shuffle(x, y)\n{LOOP}", None),
    "pairs": (f"pairs = list(zip(x, y))\nrandom.shuffle(pairs)\nx, y = zip(*pairs)\n{LOOP}", None),
    "one side alone": (f"y = y[torch.randperm(9)]\n{LOOP}", None),
    "the same seed before each": (
        f"np.random.seed(0)\nx = np.random.permutation(x)\nnp.random.seed(0)\ny = np.random.permutation(y)\n{LOOP}",
        None,
    ),
    "the same seed in each": (
        f"x = shuffle(x, random_state=0)\ny = shuffle(y, random_state=0)\n{LOOP}",
        None,
    ),
    "a generator each": (f"x = one.permutation(x)\ny = other.permutation(y)\n{LOOP}", None),
    "targets reckoned from what was shuffled": (
        f"x = x[torch.randperm(9)]\ny = x.sum(1)\n{LOOP}",
        None,
    ),
    "one order in each pass": (
        "for i in range(3):\n    p = torch.randperm(9)[:3]\n    out = net(x[p])\n    loss = F.mse_loss(out, y[p])\n",
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_two_orders_that_were_drawn_one_after_the_other_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: str
) -> None:
    text, wanted = CASES[case]
    file = tmp_path / "train.py"
    file.write_text(text)
    monkeypatch.setattr(drawn_orders, "program_files", lambda: [str(file)])
    lines = text.splitlines()
    at = next(n for n, line in enumerate(lines, 1) if "mse_loss" in line)
    stack = [Frame(str(file), at)]
    if "def fit" in text:
        stack.append(Frame(str(file), len(lines)))
    found = drawn_apart(stack, "mse_loss")
    assert (tuple(line.line for line in found) if found is not None else None) == wanted


def test_a_loss_that_cannot_be_read_names_nothing(tmp_path: Path) -> None:
    assert drawn_apart([], "mse_loss") is None
    assert drawn_apart([Frame(str(tmp_path / "gone.py"), 3)], "mse_loss") is None
