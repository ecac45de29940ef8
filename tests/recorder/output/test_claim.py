"""Facts about ranks: each process of a run writes a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from debugtracer.recorder.output.claim import claim, current_rank, launch, owner

CLAIM = """
import os, sys
from pathlib import Path
from debugtracer.recorder.output.claim import claim
print(claim(Path(sys.argv[1]), int(sys.argv[2])), os.getpid())
"""


def test_without_a_launcher_there_is_one_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    assert current_rank() == (0, 1)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"RANK": "3", "WORLD_SIZE": "8"}, (3, 8)),
        ({"RANK": "3", "WORLD_SIZE": ""}, (3, 1)),
        ({"RANK": "", "WORLD_SIZE": "8"}, (0, 1)),
        ({"RANK": "x"}, (0, 1)),
    ],
)
def test_the_launcher_s_variables_tell(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], expected: tuple[int, int]
) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert current_rank() == expected


def test_an_initialised_process_group_wins_over_the_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RANK", "5")
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'rendezvous'}", rank=0, world_size=1)
    try:
        assert current_rank() == (0, 1)
    finally:
        torch.distributed.destroy_process_group()


def test_a_claim_is_kept_by_the_process_that_made_it(tmp_path: Path) -> None:
    assert claim(tmp_path, 2) == 2
    assert claim(tmp_path, 2) == 2
    assert owner(tmp_path / "rank=2") == os.getpid()


def test_two_processes_of_one_rank_get_two_folders(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", CLAIM, str(tmp_path), "0"], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    given = {}
    for process in processes:
        number, pid = process.communicate(timeout=400)[0].split()
        given[int(number)] = int(pid)
    assert sorted(given) == [0, 1]
    assert {number: owner(tmp_path / f"rank={number}") for number in given} == given


def test_a_rank_taken_by_another_process_gives_the_next_free_one(tmp_path: Path) -> None:
    for number in (0, 1):
        (tmp_path / f"rank={number}").mkdir()
        (tmp_path / f"rank={number}" / "claim").write_text("1")
    assert claim(tmp_path, 0) == 2


@pytest.mark.parametrize("text", ["", "not a number"])
def test_a_claim_that_cannot_be_read_belongs_to_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / "claim").write_text(text)
    assert owner(tmp_path) == 0
    assert owner(tmp_path / "missing") == 0


def test_a_run_that_is_a_file_is_an_oserror(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        claim(tmp_path / "run", 0)


SHARED = """
import sys, time; from pathlib import Path; from debugtracer.recorder.output.claim import shared_run
def make(): time.sleep(0.3); folder = Path(sys.argv[1]) / str(time.time_ns()); folder.mkdir(); return folder
print(shared_run(Path(sys.argv[1]), sys.argv[2], make).resolve())
"""


def test_ranks_of_one_launch_share_the_run_that_the_first_makes(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", SHARED, str(tmp_path / "runs"), key], stdout=subprocess.PIPE, text=True)
        for key in ("a", "a", "b")
    ]
    first, second, other = (p.communicate(timeout=400)[0] for p in processes)
    assert first == second != other
    assert len([p for p in (tmp_path / "runs").iterdir() if p.is_dir()]) == 2


def test_a_process_on_its_own_is_no_part_of_a_launch_and_a_rank_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    assert launch() == ""
    monkeypatch.setenv("RANK", "1")
    assert str(os.getppid()) in launch()
