"""Names of objects in the running program, and where a list was made."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch import nn

from debugtracer.callsites.bound_names import bound_name, list_given_to
from debugtracer.trace.birth import Frame

SHARED = nn.Linear(1, 1)


class Wrapper(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module


class Trainer:
    def __init__(self) -> None:
        self.critic = nn.Linear(1, 1)

    def name(self) -> str:
        return bound_name(self.critic)


def test_a_local_an_attribute_and_a_global_have_their_name() -> None:
    encoder = nn.Linear(1, 1)
    assert bound_name(encoder) == "encoder"
    assert Trainer().name() == "critic"
    assert bound_name(SHARED) == "SHARED"
    nameless = [nn.Linear(1, 1)]
    assert bound_name(nameless[0]) == ""


def test_what_is_wrapped_has_the_name_of_its_wrapper() -> None:
    wrapped = Wrapper(nn.Linear(1, 1))
    assert bound_name(wrapped.module) == "wrapped"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("opt = AdamW(groups, lr=1e-3)", 3),
        ("opt = AdamW([{'params': decay}], lr=1e-3)", None),
        ("opt = AdamW(model.parameters(), lr=1e-3)", None),
        ("opt = AdamW(unknown, lr=1e-3)", None),
    ],
)
def test_the_list_made_last_before_the_call_is_found(tmp_path: Path, call: str, expected: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(f"def build(model):\n    groups = []\n    groups = [model.head]\n    {call}\n    groups = 3\n")
    found = list_given_to(Frame(str(file), 4, "build", call))
    assert (found.line if found else None) == expected


def test_a_file_that_cannot_be_read_has_no_list() -> None:
    assert list_given_to(Frame("/nowhere/train.py", 4)) is None
