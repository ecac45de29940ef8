"""A folder that is made once for all processes of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.made_once import made_once


def test_the_second_finds_what_the_first_has_made(tmp_path_factory: pytest.TempPathFactory) -> None:
    asked: list[Path] = []

    def make(folder: Path) -> None:
        asked.append(folder)
        (folder / "file").write_text("made")

    first, second = (made_once(tmp_path_factory, f"once-{id(asked)}", make) for _ in range(2))
    assert (first, len(asked), (second / "file").read_text()) == (second, 1, "made")


def test_what_could_not_be_made_is_tried_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    name = f"failed-{id(tmp_path_factory)}"
    with pytest.raises(ZeroDivisionError):
        made_once(tmp_path_factory, name, lambda folder: print(1 / 0))
    assert made_once(tmp_path_factory, name, lambda folder: None).is_dir()
