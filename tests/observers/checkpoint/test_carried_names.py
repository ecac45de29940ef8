"""Tables of names before and after the rows of an embedding were loaded."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.carried_names import CarriedNames
from tests.observers.told import facts, findings
from tests.watching import under_watch

WORDS = [f"w{n}" for n in range(12)]


def first() -> dict[str, int]:
    return {word: place for place, word in enumerate(WORDS)}


def turned() -> dict[str, int]:
    return {word: place for place, word in enumerate(reversed(WORDS))}


def longer() -> dict[str, int]:
    return first() | {f"x{n}": 12 + n for n in range(4)}


def mostly_new() -> dict[str, int]:
    return {f"y{n}": n for n in range(14)} | {word: 14 + n for n, word in enumerate(WORDS)}


class Model(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.rows, self.out = nn.Embedding(size, 4), nn.Linear(4, 1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.out(self.rows(ids)).mean()


class Vocabulary:
    def __init__(self, ids: dict[str, int]) -> None:
        self.ids = ids


def train(model: nn.Module, places: Any, optimizer: Any = None, more: Any = None) -> None:
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    table = places.ids if isinstance(places, Vocabulary) else places
    for _ in range(3):
        loss = model(torch.tensor([table[word] for word in WORDS]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def phases(now: Any, size: int = 12, before: Any = first, more: Any = None, after: Any = None) -> None:
    """Train, keep the weights, load them and train with another table."""
    model = Model(size)
    train(model, before())
    kept = {name: value.clone() for name, value in model.state_dict().items()}
    other = Model(size)
    other.load_state_dict(kept)
    if after is not None:
        after(other)
    train(other, now(), more=more() if more else None)


def test_a_table_made_anew_is_told_with_its_line(tmp_path) -> None:
    with under_watch(tmp_path):
        phases(turned)
    (fact,) = facts(tmp_path, CarriedNames)
    assert (fact.param, fact.rows, fact.common, fact.differ) == ("rows.weight", 12, 12, 12)
    assert (fact.name, fact.trained, fact.now) == ("w0", 0, 11)
    assert fact.loaded is not None and fact.loaded.code == "other.load_state_dict(kept)"
    (finding,) = findings(tmp_path, "data/embedding-renumbered")
    assert finding.severity == "warning"


def test_an_object_of_the_program_holds_its_table(tmp_path) -> None:
    with under_watch(tmp_path):
        phases(lambda: Vocabulary(turned()), before=lambda: Vocabulary(first()))
    (fact,) = facts(tmp_path, CarriedNames)
    assert fact.table == "places.ids"


@pytest.mark.parametrize(
    "given",
    [
        {"now": first},
        {"now": longer, "size": 16},
        {"now": turned, "more": first},
        {"now": turned, "size": 40},
        {"now": mostly_new, "size": 26},
        {"now": turned, "after": lambda model: nn.init.normal_(model.rows.weight)},
    ],
    ids=["same", "longer", "both known", "other rows", "mostly new", "drawn anew"],
)
def test_what_is_left_alone(tmp_path, given: dict[str, Any]) -> None:
    with under_watch(tmp_path):
        phases(**given)
    assert not facts(tmp_path, CarriedNames)


SCRIPT = """
import torch
from torch import nn

WORDS = [f"w{n}" for n in range(12)]
model = nn.Embedding(12, 4)
torch.save({"model": model.state_dict(), "words": {word: n for n, word in enumerate(WORDS)}}, "kept.pt")
kept = torch.load("kept.pt")
ASKED
place = {word: n for n, word in enumerate(reversed(WORDS))}
model.load_state_dict(kept["model"])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.tensor([place[word] for word in WORDS])).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("asked", "told"), [("", 1), ('print(len(kept["words"]))', 0), ('kept.get("words")', 0)])
def test_a_table_in_the_loaded_file_that_nobody_asks_for(run_watched, tmp_path, asked: str, told: int) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("ASKED", asked))
    watched = run_watched(script)
    found = [f for f in watched.report["findings"] if f["check"] == "data/embedding-renumbered"]
    assert len(found) == told
