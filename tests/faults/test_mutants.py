"""Mutants change what they say, every one compiles, and a test that looks at the changed place notices."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.faults.scoring import part

mutant, mutants, tests_of = part("mutant"), part("mutants"), part("tests_of")
ROOT = Path(__file__).resolve().parents[2]


def found(text: str) -> list[tuple[str, str]]:
    finder = mutants.Finder("x.py", text)
    finder.visit(ast.parse(text))
    return [
        (one.what, text.encode()[: one.start].decode() + one.by + text.encode()[one.stop :].decode())
        for one in finder.found
    ]


@pytest.mark.parametrize(
    ("text", "what", "changed"),
    [
        ("a < b", "comparison becomes <=", "((a) <= (b))"),
        ("ä = a is None", "comparison becomes is not", "ä = ((a) is not (None))"),
        ("a and b(1, 2)", "condition without part 2 of 2", "((a))"),
        ("a or b", "condition with and", "((a) and (b))"),
        ("not a", "negation dropped", "bool(a)"),
        ("x = True", "True becomes False", "x = False"),
        ("x = 3", "3 becomes 4", "x = 4"),
        ("x = 'confirmed'", "confirmed becomes likely", "x = 'likely'"),
    ],
)
def test_one_place_is_changed(text: str, what: str, changed: str) -> None:
    assert (what, changed) in found(text)


def test_annotations_docstrings_and_messages_are_left_alone() -> None:
    assert found('"""An error."""\ndef f(x: Literal[1]) -> None: ...\ny = f"{1 < 2}"\nz: Literal[3]') == []


def test_every_mutant_of_a_folder_compiles_and_has_a_test() -> None:
    every = list(mutants.mutants("diagnosis/proof"))
    assert len(every) > 100
    for one in every:
        compile(one.source(), one.file, "exec")
        assert all(test.is_file() for test in one.tests)


def names(tests: tuple[Path, ...]) -> list[str]:
    return [str(test.relative_to(tests_of.TESTS)) for test in tests]


def test_the_tests_of_a_file_are_the_mirrored_one_and_the_nearest_that_import_it_or_what_imports_it():
    assert names(tests_of.mirrored("diagnosis/proof/rank.py")) == [
        "diagnosis/proof/test_rank.py",
        "diagnosis/proof/test_rank_places.py",
        "diagnosis/test_calls.py",
        "test_stored_programs.py",
    ]
    whole = ["causes/test_cause.py", "causes/test_calls.py"]
    assert names(tests_of.mirrored("causes/zero_norm.py")) == ["causes/test_zero_norm.py", *whole]
    assert names(tests_of.mirrored("causes/cause.py")) == whole
    assert names(tests_of.mirrored("observers/observer.py")) == ["observers/test_observer.py"]
    wider = names(tests_of.wider("diagnosis/proof/rank.py"))
    assert "diagnosis/proof/test_prove.py" in wider[:5]
    assert len(wider) == tests_of.MOST
    assert "recorder/gate/test_resting_steps.py" in names(tests_of.wider("recorder/governor.py")), "not helpers first"
    assert "diagnosis/proof/test_rank.py" not in wider


def test_a_mirrored_file_that_was_split_is_all_of_its_parts_and_none_of_another_file():
    clocks = ["recorder/test_governor.py", "recorder/test_governor_clocks.py"]
    assert names(tests_of.mirrored("recorder/governor.py"))[:3] == [*clocks, "recorder/test_calls.py"]
    rows = names(tests_of.mirrored("interventions/stable_rows.py"))
    assert rows[:2] == ["interventions/test_stable_rows.py", "interventions/test_stable_rows_parts.py"]
    assert "recorder/resume/test_resumption.py" not in names(tests_of.mirrored("recorder/gate/step_gate.py"))
    assert not [test for test in names(tests_of.mirrored("recorder/gate/norms.py")) if "step_norms" in test]


def test_whole_programs_are_too_dear_to_ask():
    for file in ("checks/check.py", "diagnosis/jump_trials.py", "recorder/run_state.py"):
        found = tests_of.wider(file)
        assert found
        assert not [test for test in names(found) if test.partition("/")[0] in tests_of.BLIND]


def outcome(text: str, by: str, file: str = "diagnosis/judging/judge.py") -> Any:
    """What becomes of a change, by default of the judge, tried in a process of its own that has nothing of ours
    imported."""
    start = (mutants.SOURCE / file).read_bytes().index(text.encode())
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'src')!r}, {str(ROOT / 'scripts')!r}]; import torch\n"
        f"import mutants; one = mutants.Mutant({file!r}, 1, '', {start}, {start + len(text.encode())}, {by!r})\n"
        "print(next(mutants.judged([one]))[1])"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.sweep
def test_a_change_that_its_tests_notice_is_killed_and_one_without_meaning_survives() -> None:
    assert outcome("self.said.get(finding.check, 0) >= MOST", "False") == "killed"
    assert outcome("MOST_PLANS = 256", "MOST_PLANS = 257") == "survived"


@pytest.mark.sweep
def test_a_change_that_only_another_test_of_the_file_notices_is_killed() -> None:
    assert outcome("most: int = 6", "most: int = 7", "diagnosis/proof/rank.py") == "killed"


@pytest.mark.sweep
def test_a_change_that_a_program_of_a_test_shows_is_killed() -> None:
    assert outcome("chain=True", "chain=False", "recorder/output/rank_heartbeat.py") == "killed"


def test_what_is_called_equivalent_is_a_mutant_that_there_is_with_a_reason() -> None:
    """A change of the code that makes one another must be judged again."""
    for file in {known[0] for known in mutant.equivalents()}:
        listed = {known for known in mutant.equivalents() if known[0] == file}
        assert listed == {(file, *one.place, one.by) for one in mutants.mutants(file) if one.equivalent}, file
    assert all(len(why.split()) > 3 for why in mutant.equivalents().values())


def test_an_equivalent_mutant_is_told_apart_without_a_run() -> None:
    file = next(iter(mutant.equivalents()))[0]
    one = next(one for one in mutants.mutants(file) if one.equivalent)
    assert list(mutants.judged([one])) == [(one, "equivalent")]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc: the clock on the wall counts alone")
def test_what_is_counted_is_the_cpu_of_a_process_and_of_what_it_started():
    before = mutants.used_s(os.getpid())
    subprocess.run([sys.executable, "-c", "sum(range(30_000_000))"], check=True)
    assert mutants.used_s(os.getpid()) >= before + 0.1 and mutants.used_s(-1) == 0.0


def test_a_fork_that_takes_too_long_is_killed_whatever_its_tests_do_to_its_alarms(tmp_path: Path) -> None:
    hangs = tmp_path / "test_hangs.py"
    hangs.write_text("import signal\ndef test_it():\n    signal.alarm(0)\n    while True: pass\n")
    assert mutants.failing([hangs], None, 3.0) == ""
    waits = tmp_path / "test_waits.py"
    waits.write_text("import time\ndef test_it(): time.sleep(600)\n")
    begin = time.monotonic()
    assert mutants.failing([waits], None, 3.0) == "" and time.monotonic() - begin < 60
    passes = tmp_path / "test_passes.py"
    passes.write_text("def test_it(): pass\n")
    assert mutants.failing([passes], None, 60.0) is None
