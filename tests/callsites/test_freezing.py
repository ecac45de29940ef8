"""The lines that freeze."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.freezing import freezing_line, freezing_lines, train_that_freezes

SOURCE = """def build(model):
    for p in model.parameters():
        {first}
    return model
{second}
"""


@pytest.mark.parametrize("text", ["p.requires_grad = False", "p.requires_grad_(False)", "p.requires_grad_(mode=False)"])
def test_the_only_line_is_found_with_its_function(tmp_path: Path, text: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first=text, second=""))
    found = freezing_line([str(file), str(file)])
    assert found is not None
    assert (found.line, found.function, found.code) == (3, "build", text)


def test_of_two_none_is_guessed(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first="p.requires_grad = False", second="x.requires_grad_(False)"))
    assert [frame.line for frame in freezing_lines(str(file))] == [3, 5]
    assert freezing_line([str(file)]) is None


@pytest.mark.parametrize("text", ["p.requires_grad = True", "p.requires_grad_()", "p.frozen = False", "pass"])
def test_what_does_not_freeze(tmp_path: Path, text: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first=text, second=""))
    assert freezing_line([str(file)]) is None


METHOD = """class Net(Module):
    def freeze(self):
        self.stem.requires_grad_(False)

    def {name}(self, mode=True):
        super().train(mode)
        self.{called}()
"""


@pytest.mark.parametrize(
    ("name", "called", "line"), [("train", "freeze", 5), ("train", "other", None), ("eval", "freeze", None)]
)
def test_a_line_that_train_makes_run_belongs_to_it(tmp_path: Path, name: str, called: str, line: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(METHOD.format(name=name, called=called))
    found = train_that_freezes(freezing_line([str(file)]))
    assert (found.line if found is not None else None) == line
    assert train_that_freezes(None) is None
