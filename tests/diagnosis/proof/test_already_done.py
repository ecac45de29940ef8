"""No advice to do what the program does."""

from __future__ import annotations

import msgspec

from debugtracer.diagnosis.proof.already_done import without_done
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_birth, a_tensor, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.step import StepRef
from debugtracer.trace.verdict import Change

GREW = some_facts(
    a_birth("aten::mse_loss", a_tensor(1e30), output=a_tensor(inf=1), kind="overflow"),
    recent={"loss": [0.3, 0.2, 0.3, 3e7, 4e23]},
)
CLIP = ClipLimit(ref=StepRef(iteration=0, step=0), limit=0.5, frame=Frame("/p/train.py", 17))


def test_a_program_that_clips_is_told_of_its_limit_instead():
    verdict = rank(GREW)
    assert any(remedy.startswith("clip: torch.nn.utils.clip_grad_norm_") for remedy in verdict.remedy)
    told = without_done(verdict, CLIP)
    assert told.remedy[-1] == (
        "the clip at train.py:17 holds the norm at 0.5: a lower limit makes such an update smaller"
    )
    assert not any("clip_grad_norm_" in remedy for remedy in told.remedy)


def test_a_change_that_adds_a_second_clip_is_dropped_and_another_kept():
    change = Change(file="/p/train.py", line=20, before="opt.step()", after=("opt.step()",), edit="clip-gradient")
    clips = msgspec.structs.replace(rank(GREW), change=change)
    assert without_done(clips, CLIP).change is None
    other = msgspec.structs.replace(change, edit="lower-lr")
    assert without_done(msgspec.structs.replace(clips, change=other), CLIP).change == other


def test_a_program_that_does_not_clip_and_a_verdict_without_that_advice_stay():
    verdict = rank(GREW)
    assert without_done(verdict, None) is verdict
    log = rank(some_facts(a_birth("aten::log", a_tensor(0.0))))
    assert without_done(log, CLIP) is log
