"""A logged norm that stands at the limit."""

from __future__ import annotations

from debugtracer.checks.logging.postclip_norm import PostclipNorm
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.facts.logged import Logged
from tests.checks.optimizer.seen import at

LOG, CLIP = Frame("/p/train.py", 35), Frame("/p/train.py", 31)
NORMS = [6.0 + (step * 7 % 10) for step in range(30)]  # 6 .. 15 at a limit of 2


def after(norm, limit=2.0):
    return min(norm, limit * norm / (norm + 1e-6))


def judged(named, norms=NORMS, late=0, limit=2.0):
    check = PostclipNorm()
    judge, found = Judge({check.slug: check}), []
    for step, norm in enumerate(norms):
        facts = [ClipLimit(ref=at(0), limit=limit, frame=CLIP)] if step == 0 else []
        facts += [
            Logged(ref=at(step + late), source="tensorboard", name=name, value=make(norm), frame=LOG)
            for name, make in named.items()
        ]
        found += judge.judge(at(step), {"clip_ratio": norm / limit}, facts)
    return [*found, *judge.end(at(len(norms)))]


def test_fires_on_the_norm_after_clipping_at_the_first_large_one():
    (finding,) = judged({"train/grad_norm": after})
    assert finding.message == (
        "step 9, rank 0: train/grad_norm (train.py:35) was 2 (max_norm) in 10 logs while the norm before clipping "
        "(train.py:31) was up to 12; expected that "
        "one in the log. Log what clip_grad_norm_ returns."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "log_postclip_norm", LOG)


def test_a_log_after_the_update_belongs_to_the_step_before():
    assert [f.severity for f in judged({"grad_norm": after}, late=1)] == ["warning"]


def test_norms_below_five_limits_are_a_note_at_the_end():
    assert [f.severity for f in judged({"grad_norm": after}, [4.0 + step % 3 for step in range(30)])] == ["note"]


def test_at_the_threshold_of_ten_logs():
    assert judged({"grad_norm": after}, NORMS[:9]) == []
    assert len(judged({"grad_norm": after}, NORMS[:10])) == 1


def test_stays_silent_on_the_norm_before_clipping_and_on_both():
    assert judged({"grad_norm": lambda norm: norm}) == []
    assert judged({"grad_norm": after, "total": lambda norm: norm}) == []


def test_stays_silent_on_a_name_that_says_it_on_the_limit_itself_and_on_other_numbers():
    assert judged({"grad_norm_clipped": after}) == []
    assert judged({"max_grad_norm": lambda norm: 2.0}) == []
    assert judged({"accuracy": lambda norm: 2 - norm * 1e-5}) == []
    assert judged({"grad_norm": lambda norm: 0.5 * norm}) == []


def test_another_name_needs_updates_that_were_not_clipped():
    assert judged({"g": after}) == []
    assert len(judged({"g": after}, [*NORMS, 1.0, 1.1, 1.2, 1.3, 1.4, *NORMS])) == 1


def test_stays_silent_when_nothing_was_clipped():
    assert judged({"grad_norm": after}, [0.5 + 0.01 * step for step in range(40)]) == []


def test_a_norm_of_something_else_that_stands_at_the_limit_is_silent():
    jitters = iter([2.0, 2.0 * (1 - 6e-8)] * 60)
    assert judged({"feature_norm": lambda norm: next(jitters)}) == []
    assert len(judged({"train/norm": after})) == 1


def test_one_value_that_is_no_limit_is_enough_to_be_silent():
    norms = [6.0 + step / 100 for step in range(30)]
    assert judged({"grad_norm": lambda norm: norm / 2 if norm == norms[3] else after(norm)}, norms) == []
    unclipped = [*norms[:20], 1.0]  # the last update, which nothing clipped, does not make up for it
    assert judged({"grad_norm": lambda norm: norm / 2 if norm == norms[3] else after(norm)}, unclipped) == []


def test_one_value_above_the_limit_where_nothing_was_clipped_is_enough_too():
    norms = [1.0, *[4.0 + step % 3 for step in range(30)]]
    assert judged({"grad_norm": lambda norm: 2.5 if norm == 1.0 else after(norm)}, norms) == []
    assert len(judged({"grad_norm": lambda norm: 2.001 if norm == 1.0 else after(norm)}, norms)) == 1


def test_without_a_limit_nothing_is_said():
    check = PostclipNorm()
    judge, found = Judge({check.slug: check}), []
    for step, norm in enumerate(NORMS):
        fact = Logged(ref=at(step), source="tensorboard", name="grad_norm", value=after(norm), frame=LOG)
        found += judge.judge(at(step), {"clip_ratio": norm / 2.0}, [fact])
    assert found == []
