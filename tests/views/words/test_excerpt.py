"""Source around the lines of an incident, each place once."""

from __future__ import annotations

from debugtracer.testing import TRAIN
from debugtracer.views.incident_document import read_told
from debugtracer.views.words.excerpt import excerpts
from tests.views.test_incident_document import a_run


def test_the_line_of_birth_is_marked_and_has_its_surroundings(tmp_path):
    source = "".join(f"line_{number} = {number}\n" for number in range(1, 100))
    told = read_told(a_run(tmp_path, source))
    found = excerpts(told)
    assert told.verdict.file == TRAIN
    first = found[0].split("\n")
    assert first[0].startswith(f"the line to edit: train.py:{told.verdict.line}")
    assert f">    {told.verdict.line}  line_{told.verdict.line} = {told.verdict.line}" in first
    assert len(first) == 26
    # the loader is made near it
    assert [text.split(":")[0] for text in found[1:]] == ["where it showed", "the optimizer is made"]


def test_without_the_file_the_stored_line_is_shown(tmp_path):
    told = read_told(a_run(tmp_path))
    assert told.facts is not None
    assert told.facts.symptom_frame is not None
    assert "loss.backward()" not in "\n".join(excerpts(told))  # the kept copy has one line only: nothing is invented
