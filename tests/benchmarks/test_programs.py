"""The benchmark of other people's programs: what differs each time is left out of the comparison, the table says what
a kept file says, and made data are what the programs read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.other_programs import PROGRAMS

from benchmarks import program_data, programs

ROW = {
    "kind": "rl",
    "n": 40,
    "unit": "episodes",
    "bare_cpu_s": [4.0, 6.0],
    "watched_cpu_s": [6.0, 14.0],
    "steady_ratio": 4.0,
    "whole_ratio": 2.333,
    "told": 0.086,
    "same_output": True,
    "lines": 12,
}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    rows = {"reinforce": ROW, "ppo": ROW | {"same_output": False, "told": None}, "sac": {"error": "status 1: no env"}}
    result = {"date": "2026-11-22", "machine": "a processor", "rows": rows}
    path = tmp_path / "2026-11-22-programs-cost.json"
    path.write_text(json.dumps({"date": "2026-11-22", "commit": "aaaaaaa", "results": {"aaaaaaa": result}}))
    return path


def test_the_table_has_a_row_for_each_program(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert programs.main(["--table", str(kept)]) == 0
    assert capsys.readouterr().out.splitlines()[4:7] == [
        "| reinforce | 2.0 | 4.00 | 2.33 | 8.6% | yes, 12 lines |",
        "| ppo | 2.0 | 4.00 | 2.33 | - | NO |",
        "| sac | status 1: no env | | | | |",
    ]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("iter 12: loss 4.1234, time 35.12ms, mfu -100.00%", "iter 12: loss 4.1234, , "),
        ("iter_dt 12.34ms; iter 30: train loss 2.12345", "; iter 30: train loss 2.12345"),
        ("Epoch: 0020 (0.0123s) loss_train: 1.9", "Epoch: 0020  loss_train: 1.9"),
        ("| ms/batch  5.12 | loss  6.20 | ppl   491.1", "|  | loss  6.20 | ppl   491.1"),
        ("| end of epoch   1 | time:  5.23s | valid loss  5.10", "| end of epoch   1 |  | valid loss  5.10"),
        ("SPS: 1234", ""),
        ("global_step=20, episodic_return=[9.]", "global_step=20, episodic_return=[9.]"),
        ("loss: 0.0123", "loss: 0.0123"),
    ],
)
def test_only_times_are_left_out(line: str, left: str) -> None:
    assert programs.OTHER_EACH_TIME.sub("", line) == left


def test_help_tells_what_is_measured() -> None:
    script = Path(programs.__file__)
    said = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=True).stdout
    assert "--mirror" in said
    assert "start-up cancels" in said


def test_every_program_has_a_name_a_commit_and_its_stand_ins() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    for program in PROGRAMS:
        assert not program.source or len(program.source.split("@")[1]) == 40
        assert set(program.shadowed) <= set(program_data.STAND_INS)
        assert (program.length, program.unit) > (0, "")
        assert "{n}" in program.arguments + "".join(new for _, new in program.edits)


def test_the_data_are_made(tmp_path: Path) -> None:
    for number, make in enumerate({program.make_data for program in PROGRAMS}):
        folder = tmp_path / str(number) / "begin"
        folder.mkdir(parents=True)
        make(folder)
    tokens = np.fromfile(next(tmp_path.rglob("train.bin")), dtype=np.uint16)
    assert tokens.max() < 65
    assert len(list(tmp_path.rglob("*.png"))) == 4 * (48 + 8)


def test_a_stand_in_hides_the_package(tmp_path: Path) -> None:
    folder = program_data.stand_ins(tmp_path, ("matplotlib",))
    drawn = "import matplotlib.pyplot as plt; print(plt.figure(figsize=(1, 2)))"
    said = subprocess.run(
        [sys.executable, "-c", drawn], env={"PYTHONPATH": str(folder)}, capture_output=True, text=True
    )
    assert said.stdout == "None\n"
