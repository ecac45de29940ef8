"""A word to a run is written where it is obeyed, and refused where it would not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.server.word import refusal, write_control_word
from debugtracer.trace.store.schema import CONTROL, CONTROL_WORDS

TRAINING = {"status": "running", "mode": "val", "ranks": 1}


@pytest.mark.parametrize("word", CONTROL_WORDS)
def test_a_word_becomes_the_file(tmp_path: Path, word: str) -> None:
    write_control_word(tmp_path, word, TRAINING)
    assert (tmp_path / CONTROL).read_text().strip() == word
    assert [f.name for f in tmp_path.iterdir()] == [CONTROL]


def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    run = tmp_path / "run"
    run.mkdir()
    (run / CONTROL).symlink_to(outside)
    write_control_word(run, "stop", TRAINING)
    assert outside.read_text() == "mine" and not (run / CONTROL).is_symlink()


@pytest.mark.parametrize("word", ["", "halt", None, 3, ["stop"], "stop\nrm", "x" * 500])
def test_anything_else_is_refused(tmp_path: Path, word: object) -> None:
    with pytest.raises(UsageError, match="expected one of stop, pause, resume"):
        write_control_word(tmp_path, word, TRAINING)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"status": "ended"}, "over"),
        ({"status": "lost"}, "over"),
        ({"mode": "dev"}, "--mode val"),
        ({"ranks": 2}, "ranks"),
    ],
)
def test_a_run_that_would_not_obey_is_not_asked(tmp_path: Path, state: dict[str, object], why: str) -> None:
    assert why in refusal(TRAINING | state)
    with pytest.raises(UsageError, match=why):
        write_control_word(tmp_path, "stop", TRAINING | state)
    assert refusal(TRAINING) == ""
