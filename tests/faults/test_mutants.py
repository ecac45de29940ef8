"""Mutants change what they say, every one compiles, and a test that looks at the changed place notices."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults.scoring import part

mutants = part("mutants")
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


def outcome(text: str, by: str) -> Any:
    """What becomes of a change of the judge, tried in a process of its own that has nothing of ours imported."""
    file = "diagnosis/judging/judge.py"
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
