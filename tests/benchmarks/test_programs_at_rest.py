"""The benchmark of programs at rest: which programs it has, what it edits, and its table."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.other_programs import PROGRAMS

from benchmarks import programs_at_rest

KIND = {"ratio": 1.0467, "quartiles": [1.012, 1.083], "interval": [1.043, 1.05], "rounds": 90}
ROW = {"bare_us": 1656.4, "watched": KIND, "floor": KIND | {"ratio": 1.0255}, "own_us": 45.8, "left_out": 6}


def test_the_table_has_a_row_for_each_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"Lightning": ROW, "gcn": ROW | {"floor": None}, "sac": {"error": "status 1: no env"}}
    path = tmp_path / "2026-11-27-programs-at-rest.json"
    path.write_text(
        json.dumps({"results": {"aaaaaaa": {"date": "2026-11-27", "machine": "a processor", "rows": rows}}})
    )
    assert programs_at_rest.main(["--table", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[4:7] == [
        "| Lightning | 1656 | 1.047 | 1.012 to 1.083 | 1.043 to 1.050 | 1.026 | 46 |",
        "| gcn | 1656 | 1.047 | 1.012 to 1.083 | 1.043 to 1.050 | - | 46 |",
        "| sac | status 1: no env | | | | | |",
    ]


def test_its_programs_are_those_of_the_other_benchmark() -> None:
    assert set(programs_at_rest.LENGTHS) <= {program.name for program in PROGRAMS}
    assert set(programs_at_rest.ENDS) <= set(programs_at_rest.LENGTHS)


def test_a_program_without_an_optimizer_tells_where_its_steps_end() -> None:
    program = programs_at_rest.prepared("pytorch/examples regression")
    pattern, replacement = program.edits[-1]
    edited = re.sub(pattern, replacement, "    step()\n    # Stop criterion\n")
    assert edited == "    step()\n    debug_tracer_step_ends()\n    # Stop criterion\n"
    assert len(programs_at_rest.prepared("CleanRL sac").edits) == 0


def test_help_tells_what_is_measured() -> None:
    script = Path(programs_at_rest.__file__)
    said = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=True).stdout
    assert "--mirror" in said
    assert "in turns inside one process" in said
