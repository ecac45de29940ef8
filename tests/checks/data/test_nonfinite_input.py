"""NaN in a batch is a fault when it spoils what it reaches."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.data.nonfinite_input import NonfiniteInput
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import Crash, TensorSeen
from debugtracer.trace.facts.refetched import Refetched
from tests.checks.crashes import LINE, REF
from tests.checks.data.batches import LOADER, a_window, an_oddity, at, judged

BAD = {"rows": (3,), "samples": (135,), "count": 1, "of": 60}


def test_a_bad_input_that_spoils_the_output_is_an_error_with_its_sample():
    (finding,) = NonfiniteInput().judge(
        a_window(an_oddity("nonfinite", reached="model", spoiled=True, module="Sequential", **BAD))
    )
    assert finding.message == (
        "step 8, rank 0: batch[0] of batch 8 of Corpus (train.py:50) holds 1 non-finite of 60 values, sample 135, and "
        "the output of Sequential is not finite; "
        "expected finite inputs. Impute or drop the sample where it is made."
    )
    assert (finding.severity, finding.kind, finding.place.sample_index, finding.place.frame) == (
        "error",
        "data_nonfinite",
        (135,),
        LOADER.made_at,
    )


@pytest.mark.parametrize("reached", ["", "model"])
def test_a_marker_of_missing_values_that_spoils_nothing_is_a_note(reached):
    (finding,) = NonfiniteInput().judge(a_window(an_oddity("nonfinite", reached=reached, module="Net", **BAD)))
    assert finding.severity == "note"


def test_markers_of_missing_values_are_noted_once_and_what_spoils_is_told_all_the_same():
    masked = [an_oddity("nonfinite", step, reached="model", module="Net", **BAD) for step in (8, 9)]
    spoils = an_oddity("nonfinite", 10, reached="model", spoiled=True, module="Net", **BAD)
    found = judged(NonfiniteInput(), [[one] for one in (*masked, spoils)], start=8)
    assert [(f.severity, f.step) for f in found] == [("note", 8), ("error", 10)]


@pytest.mark.parametrize(
    ("origin", "kind"),
    [("normalisation", "normalisation_zero_std"), ("operation", "data_nonfinite"), ("source", "data_nonfinite")],
)
def test_the_sample_fetched_again_names_its_transform_and_line(origin, kind):
    again = Refetched(
        ref=at(8),
        loader=0,
        index=135,
        what="nonfinite",
        again=True,
        origin=origin,
        transform="Standardise",
        frame=Frame("/p/train.py", 12),
    )
    (finding,) = NonfiniteInput().judge(a_window(again, an_oddity("nonfinite", reached="model", spoiled=True, **BAD)))
    assert (finding.kind, finding.place.frame) == (kind, Frame("/p/train.py", 12))
    assert "; Standardise: " in finding.message


def test_other_oddities_are_not_its_business():
    assert not list(NonfiniteInput().judge(a_window(an_oddity("blank"))))


@pytest.mark.parametrize(("step", "nonfinite", "count"), [(8, 1, 2), (8, 0, 1), (9, 1, 1)])
def test_a_crash_at_a_call_that_met_them_is_an_error_with_the_sample(step, nonfinite, count):
    crash = Crash(
        ref=msgspec.structs.replace(REF, step=step), error="RuntimeError", message="all elements of input",
        frames=(LINE,), call=LINE, tensors=(TensorSeen(name="input", dtype="float32", nonfinite=nonfinite),),
    )  # fmt: skip
    *notes, last = NonfiniteInput().judge(a_window(an_oddity("nonfinite", **BAD), crash))
    assert [*notes, last][0].severity == "note" and len([*notes, last]) == count
    if count == 2:
        assert (last.severity, last.kind, last.place.sample_index) == ("error", "data_nonfinite", (135,))
        assert "sample 135, and the program ended with RuntimeError at a call that met them; expected" in last.message
