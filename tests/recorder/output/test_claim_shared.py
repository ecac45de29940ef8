"""Who may write which folder of a run that several processes share, and how they find each other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from debugtracer.recorder.output import claim as module
from debugtracer.recorder.output.claim import claim, current_rank, launch, made_by_sibling, owner, shared_run


@pytest.mark.parametrize(
    ("rank", "size", "expected"),
    [("", "", (0, 1)), ("3", "8", (3, 8)), ("3", "", (3, 1)), ("x", "8", (0, 1)), ("-1", "8", (0, 1))],
)
def test_the_rank_is_that_of_the_launcher(monkeypatch, rank, size, expected):
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", size)
    assert current_rank() == expected


def test_a_rank_folder_belongs_to_the_process_that_took_it_first(tmp_path):
    assert claim(tmp_path, 2) == 2 and claim(tmp_path, 2) == 2
    assert owner(tmp_path / "rank=2") == os.getpid()
    (tmp_path / "rank=2" / "claim").write_text("1")
    (tmp_path / "rank=3").mkdir()
    (tmp_path / "rank=3" / "claim").write_text("")
    assert claim(tmp_path, 2) == 4


@pytest.mark.parametrize(("text", "expected"), [("17", 17), ("", 0), ("x", 0), (None, 0)])
def test_a_claim_that_cannot_be_read_is_of_nobody(tmp_path, text, expected):
    if text is not None:
        (tmp_path / "claim").write_text(text)
    assert owner(tmp_path) == expected


@pytest.mark.parametrize(
    ("rank", "parent", "named"), [("", None, False), ("0", None, True), ("x", None, False), ("", "a parent", True)]
)
def test_a_launch_has_a_name_where_the_process_is_one_of_several(monkeypatch, rank, parent, named):
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setattr(module.multiprocessing.process, "parent_process", lambda: parent)
    said = launch()
    assert bool(said) is named and (not named or f"-{os.getppid()}-" in said)


def test_the_first_makes_the_folder_and_the_others_read_its_name(tmp_path):
    made = []

    def make():
        made.append(tmp_path / f"run-{len(made)}")
        return made[-1]

    out = tmp_path / "out"
    assert shared_run(out, "x", make) == tmp_path / "run-0"
    assert shared_run(out, "x", make) == out.resolve() / "run-0" and len(made) == 1
    assert shared_run(out, "y", make) == tmp_path / "run-1"


class Clock:
    """Runs on by a half whenever somebody sleeps."""

    def __init__(self, monkeypatch, then=lambda: None) -> None:
        self.now, self.slept, self.then = 0.0, [], then
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        monkeypatch.setattr(module, "sleep", self.sleep)

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += 0.5
        self.then()


def test_a_sibling_that_names_no_folder_in_twenty_seconds_is_not_waited_for(monkeypatch, tmp_path):
    pointer = tmp_path / "pointer"
    pointer.write_text("half a na")
    clock = Clock(monkeypatch)
    assert made_by_sibling(pointer) is None and clock.now == 20.0 and set(clock.slept) == {0.02}
    monkeypatch.setattr(module, "made_by_sibling", lambda pointer: None)
    (tmp_path / ".launch-x").write_text("")
    assert shared_run(tmp_path, "x", lambda: Path("own")) == Path("own")


def test_one_that_does_so_late_is_found(monkeypatch, tmp_path):
    pointer = tmp_path / "pointer"
    pointer.write_text("")
    Clock(monkeypatch, lambda: pointer.write_text("run-7\n"))
    assert made_by_sibling(pointer) == tmp_path.resolve() / "run-7"
