"""What is written down of an incident; the folders themselves are tested end to end."""

import json

import pytest

from debugtracer.diagnosis.incident_writer import IncidentWriter, findings_of
from debugtracer.errors import CapsuleError
from debugtracer.testing import some_facts


class Noting:
    """An output that remembers its notes."""

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


def test_a_failure_of_ours_is_loud_in_our_tests():
    with pytest.raises(ZeroDivisionError):
        IncidentWriter(Noting(), stops=False).attempt(lambda: 1 / 0)


def test_the_findings_can_be_written():
    found = findings_of(some_facts(loss="NaN"), {"loss": [0.7, 0.6]}, ())
    assert json.dumps([f.message for f in found])
