"""Has each loader a batch to give?"""

from __future__ import annotations

from debugtracer.checks.data.loader_batchless import LoaderBatchless
from debugtracer.trace.facts.batchless_loader import BatchlessLoader
from tests.checks.facts_at import judged, line, ref


def test_fewer_samples_than_a_batch_are_told_at_the_line_that_builds_the_loader():
    fact = BatchlessLoader(ref=ref(82), dataset="Notes", rows=6, batch_size=8, frame=line(3), called=line(9))
    (finding,) = judged(LoaderBatchless(), [fact])
    assert finding.message == (
        "step 82, rank 0: the loader of Notes (train.py:3) has no batch for the loop (train.py:9): 6 samples, batches "
        "of 8, and drop_last=True; expected at least 1. Pass drop_last=False, or take batches of 6 or fewer."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(3), line(9))


def test_a_set_without_samples_says_so_and_advises_no_smaller_batch():
    fact = BatchlessLoader(ref=ref(0), dataset="Notes", rows=0, batch_size=8, frame=line(3))
    (finding,) = judged(LoaderBatchless(), [fact])
    assert finding.message.endswith(
        "the loader of Notes (train.py:3) has no batch: 0 samples; expected at least 1. Find out why nothing is in it."
    )
