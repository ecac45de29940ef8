"""Does a target network follow what it makes targets for?"""

from __future__ import annotations

from debugtracer.checks.optimizer.copy_unwritten import CopyUnwritten
from debugtracer.trace.facts.unwritten_copy import UnwrittenCopy
from tests.checks.facts_at import judged, line, ref
from tests.trace.facts.test_bootstrap_mask import masked


def copy(step=2):
    return UnwrittenCopy(
        ref=ref(step), module="QNet", name="slow", updates=2, apart=0.02, made=line(32), called=line(52)
    )


def test_a_copy_that_values_the_next_states_is_told_where_it_is_filled():
    (finding,) = judged(CopyUnwritten(), [masked(0), copy()])
    assert finding.message == (
        "step 2, rank 0: QNet, slow, values the next states (train.py:52) and has not moved in 2 updates; it is filled "
        "where it is built (train.py:32) and no line writes it again; expected a copy that follows. Call "
        "slow.load_state_dict(...) every few hundred updates."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(32), line(52))


def test_a_copy_is_told_when_the_first_bootstrap_is_seen_and_a_reference_never():
    assert len(judged(CopyUnwritten(), [copy(), masked(3), masked(4)])) == 1
    assert not judged(CopyUnwritten(), [copy()], ended=True)
