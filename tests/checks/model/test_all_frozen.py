"""Is every parameter of the model frozen?"""

from __future__ import annotations

from debugtracer.checks.model.all_frozen import AllFrozen
from debugtracer.checks.model.loss_without_graph import LossWithoutGraph
from debugtracer.trace.facts.graph_reach import LossWithoutGraph as Loose
from tests.checks.facts_at import judged, line, ref


def loose(**more: object) -> Loose:
    return Loose(ref=ref(), leaf=False, frame=line(33), **more)


def test_the_line_that_freezes_is_the_place():
    fact = loose(frozen=23, model="Net", frozen_by=line(36))
    (finding,) = judged(AllFrozen(), [fact, fact])
    assert finding.message == (
        f"step 0, rank 0: all 23 parameters of Net have requires_grad False ({line(36).file.rpartition('/')[2]}:36 "
        "freezes), so the loss hangs on none; expected at least one that trains. Compare the names of "
        "model.named_parameters() with those that are to be spared."
    )
    assert (finding.severity, finding.exact, finding.place.frame.line, finding.place.symptom_frame.line) == (
        "error",
        False,
        36,
        33,
    )
    assert judged(LossWithoutGraph(), [fact]) == []


def test_without_a_known_line_the_backward_is_the_place():
    (finding,) = judged(AllFrozen(), [loose(frozen=2, model="Net")])
    assert finding.place.frame.line == 33
    assert "requires_grad False, so" in finding.message


def test_a_loss_cut_from_a_model_that_trains_is_another_matter():
    assert judged(AllFrozen(), [loose()]) == []
    assert len(judged(LossWithoutGraph(), [loose()])) == 1


def test_one_that_trained_until_then_is_asked_for_its_schedule():
    (finding,) = judged(AllFrozen(), [loose(frozen=14, model="Net", frozen_by=line(63), updates=80)])
    assert "63 freezes) after 80 updates in which some were trained, so" in finding.message
    assert finding.message.endswith("given now, and end the schedule before the last part.")
    assert finding.remedy[0].startswith("print what the line that freezes was given")
    assert (finding.place.frame.line, finding.place.symptom_frame.line) == (63, 33)


def test_the_call_of_the_loop_comes_before_the_line_it_runs():
    fact = loose(frozen=14, model="Net", frozen_by=line(63), updates=80, called_at=line(84))
    (finding,) = judged(AllFrozen(), [fact])
    assert "63 freezes, called by " in finding.message
    assert "84) after 80 updates" in finding.message
    assert finding.place.frame.line == 84
