"""Does a model that predicts the next token see it?"""

from __future__ import annotations

from debugtracer.checks.model.future_leak import FutureLeak
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.facts_at import judged, line, ref


def test_a_change_before_the_changed_tokens_is_told():
    fact = FunctionTest(
        ref=ref(),
        trial="later_tokens",
        root="Writer",
        changed=True,
        position=16,
        size=0.41,
        module="blocks.0.attn",
        frame=line(33),
    )
    (finding,) = judged(FutureLeak(), [fact])
    assert finding.message == (
        "step 0, rank 0: outputs at positions before 16 change by 0.41 standard deviations when tokens from 16 on "
        "change (first in blocks.0.attn, line 33), and these are the targets; expected no change. Add or repair the "
        "causal mask."
    )
    assert (finding.kind, finding.exact, finding.place.module) == ("label_leak", True, "blocks.0.attn")


def test_what_is_no_attention_has_its_own_advice():
    fact = FunctionTest(
        ref=ref(), trial="later_tokens", root="Net", changed=True, position=16, size=0.41, module="crop",
        frame=line(12), function="__getitem__",
    )  # fmt: skip
    (finding,) = judged(FutureLeak(), [fact])
    assert "(first in crop, line 12 by an index), and these are the targets; expected no change. Let no" in (
        finding.message
    )
    assert finding.remedy[0].startswith("pad on the left alone")


def test_no_change_and_other_trials_are_silent():
    facts = [
        FunctionTest(ref=ref(), trial="later_tokens", root="W"),
        FunctionTest(ref=ref(), trial="other_samples", root="W", changed=True, size=1.0),
    ]
    assert not judged(FutureLeak(), facts)


def test_targets_that_are_not_shifted_are_told_at_the_loss():
    fact = FunctionTest(ref=ref(), trial="own_token", root="Writer", changed=True, position=8, size=1.2, frame=line(40))
    (finding,) = judged(FutureLeak(), [fact])
    assert finding.message == (
        "step 0, rank 0: the target of each position is the input token of that position, and the output at 8 depends "
        "on it (1.2 standard deviations) "
        "but not on later ones; expected the next token as target. Shift the targets by one."
    )
    assert finding.place.frame.line == 40


def test_a_mask_whose_line_is_known_is_the_place():
    fact = FunctionTest(
        ref=ref(),
        trial="later_tokens",
        root="W",
        changed=True,
        position=16,
        size=0.41,
        frame=line(33),
        made=(line(27),),
    )
    (finding,) = judged(FutureLeak(), [fact])
    assert (finding.place.frame, finding.place.symptom_frame) == (line(27), line(33))
    assert "these are the targets; its mask is made at train.py:27; expected no change" in finding.message


def test_a_mask_that_begins_too_late_is_told_at_its_line():
    fact = FunctionTest(
        ref=ref(), trial="late_mask", root="Pixels", changed=True, position=16, length=1, size=0.3,
        module="layers.0.attn", frame=line(25), made=(line(22),),
    )  # fmt: skip
    (finding,) = judged(FutureLeak(), [fact])
    assert finding.message == (
        "step 0, rank 0: the target of each position is the input token of that position, and the output at 16 changes "
        "with it by 0.3 standard deviations, and so does the output before (first in layers.0.attn, line 25); its mask "
        "is made at train.py:22; expected an output that depends on the tokens before it alone. Hide one position "
        "more, or shift the input by one."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (line(22), line(25))
    assert not judged(FutureLeak(), [FunctionTest(ref=ref(), trial="late_mask", root="Pixels", position=16, length=-1)])
