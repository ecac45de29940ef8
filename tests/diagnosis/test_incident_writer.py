"""What is written down of an incident; the folders themselves are tested end to end."""

import errno
import json

import pytest

from debugtracer.diagnosis.incident_writer import IncidentWriter, born_at, findings_of
from debugtracer.errors import CapsuleError
from debugtracer.testing import a_birth, a_tensor, some_facts
from debugtracer.trace.store.op_table import OpRow, read_ops
from tests.watching import LogHead, batches, only, seeded, train, under_watch


class Noting:
    """An output that remembers its notes."""

    folder = "runs/one"

    def __init__(self):
        self.notes = []

    def note(self, what, text):
        self.notes.append((what, text))


def test_the_checks_judge_the_moment_of_the_incident():
    found = findings_of(some_facts(loss="NaN"), {"loss": [0.7, 0.6]}, ())
    assert [f.check for f in found] == ["numerics/nan-loss"]
    assert findings_of(some_facts(loss=0.5), {"loss": [0.7, 0.6]}, ()) == []


def test_a_part_that_cannot_be_kept_is_noted_and_costs_no_other():
    output = Noting()
    incident_writer = IncidentWriter(output, stops=False)

    def refused():
        raise CapsuleError("too large")

    assert incident_writer.attempt(refused) is False
    assert output.notes == [("no-capsule", "too large")]
    assert incident_writer.attempt(lambda: None) is True


def test_a_full_disk_is_one_sentence_with_the_folder_and_costs_no_verdict(capsys):
    incident_writer = IncidentWriter(Noting(), stops=False)

    def full():
        raise OSError(errno.ENOSPC, "No space left on device")

    assert [incident_writer.attempt(full) for _ in range(3)] == [False] * 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "an incident could not be saved in" in line and "No space left on device" in line and "--out" in line


def test_a_failure_of_ours_is_loud_in_our_tests():
    with pytest.raises(ZeroDivisionError):
        IncidentWriter(Noting(), stops=False).attempt(lambda: 1 / 0)


def test_the_findings_can_be_written():
    found = findings_of(some_facts(loss="NaN"), {"loss": [0.7, 0.6]}, ())
    assert json.dumps([f.message for f in found])


def test_the_op_table_of_an_incident_lies_in_its_folder_and_knows_the_birth(tmp_path):
    out = tmp_path / "runs"
    with under_watch(out):
        train(seeded(LogHead), batches(4, bad=2))
    folder = out / "latest" / "incidents" / "step-000002-rank0"
    table, told = read_ops(folder), only(out)
    assert told.folder == f"incidents/{folder.name}"
    (born,) = [row for row in table.rows if row.index == table.birth]
    assert (born.op, born.line, born.nan) == ("aten::log", told.verdict.line, 1)
    assert [row.index for row in table.rows] == list(range(table.seen))


def test_the_birth_is_the_op_of_its_line_with_its_counts():
    birth = a_birth("aten::log", a_tensor(0.0))
    frame, out = birth.frame, birth.output
    same = {"op": "aten::log", "direction": "forward", "module": birth.module, "file": frame.file, "line": frame.line}
    bad = {"nan": out.nan, "inf": out.posinf + out.neginf, "shape": out.shape}
    rows = [OpRow(index=0, **same), OpRow(index=1, **same, nan=99), OpRow(index=2, **same, **bad)]
    assert born_at(rows, birth) == (2 if out.nan + out.posinf + out.neginf else 1)
    assert born_at(rows[:1], birth) is None
    assert born_at(rows, None) is None
