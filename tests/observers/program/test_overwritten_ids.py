"""Labels masked in the memory of the ids, under a real session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.callsites import part_writes
from debugtracer.session import active
from debugtracer.trace.facts.overwritten_ids import OverwrittenIds
from tests.observers.told import facts
from tests.watching import under_watch


def read(copies: bool, word: int) -> None:
    model = nn.Embedding(30, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ids = torch.tensor([3, 1, 4, word, 5])
    labels = ids.clone() if copies else ids
    labels[:2] = -100
    model(ids).pow(2).sum().backward()
    optimizer.step()


def seen(out: Path, copies: bool, word: int) -> list[Any]:
    with under_watch(out), pytest.raises(IndexError):
        try:
            read(copies, word)
        except Exception as raised:
            active().crashed(raised)  # type: ignore[union-attr]
            raise
    return facts(out, OverwrittenIds)


def test_how_many_of_them_and_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_writes, "program_files", lambda: [__file__])
    (fact,) = seen(tmp_path, copies=False, word=2)
    assert (fact.label, fact.ids, fact.overwritten) == (-100, 5, 2)
    assert fact.frame is not None and fact.frame.code == "labels[:2] = -100"


def test_another_id_that_is_refused_is_none(tmp_path: Path) -> None:
    assert seen(tmp_path, copies=True, word=77) == []
