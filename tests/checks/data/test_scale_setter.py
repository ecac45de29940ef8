"""A number that sets the scale of the data."""

from __future__ import annotations

from debugtracer.checks.data.scale_setter import ScaleSetter
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.scale_setter import ScaleSetter as Fact
from tests.checks.optimizer.seen import at, found


def a_setter(**more):
    return Fact(ref=at(0), name="TensorDataset.tensors[0]", row=300, low=3e-5, high=0.0011, **more)


def test_the_line_of_the_file_and_that_of_the_division():
    record, scaled = Frame("/p/speed.csv", 302), Frame("/p/functions.py", 34)
    known = {"samples": tuple(range(286, 301)), "count": 15, "cell": "d7 is 65535"}
    (finding,) = found(ScaleSetter(), [a_setter(column=7, record=record, scaled=scaled, **known)])
    assert (finding.severity, finding.kind) == ("warning", "data_range_extreme")
    assert finding.message == (
        "step 0, rank 0: one number sets the scale of TensorDataset.tensors[0]: row 300, column 7 (speed.csv:302, d7 "
        "is 65535) is 1 after the division by the maximum (functions.py:34), and all others lie from 3e-05 to 0.0011 "
        "(15 samples show it: samples 286..300); expected data that fill the scale. Fill it where the file is read, "
        "before the division."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (record, scaled)


def test_what_is_not_known_is_left_out_and_it_is_said_once():
    scaled = Frame("/p/functions.py", 34)
    (finding,) = found(ScaleSetter(), [a_setter(column=None, scaled=scaled), a_setter(column=None, scaled=scaled)])
    assert "row 300 is 1 after the division" in finding.message
    assert "to 0.0011; expected" in finding.message
    assert finding.place.frame == scaled
