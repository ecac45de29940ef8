"""Workers that go on with an old copy."""

from __future__ import annotations

from debugtracer.checks.data.worker_copy_stale import WorkerCopyStale
from debugtracer.trace.facts.worker_copy import WorkerCopy
from debugtracer.trace.window import Window
from tests.checks.windows import LOADER, ref


def judged(came=1, **of):
    fact = WorkerCopy(ref=ref(4), loader=0, number=1, dataset="Pairs", names=("rows", "level"), frame=LOADER, **of)
    return list(WorkerCopyStale().judge(Window(ref=fact.ref, facts={WorkerCopy: (fact,)}, came={WorkerCopy: came})))


def test_a_sample_that_differs_is_proof():
    (finding,) = judged(proven=True, sample=3)
    assert (finding.severity, finding.exact, finding.kind) == ("error", True, "worker_copy_stale")
    assert "Pairs.rows, Pairs.level have changed before pass 1" in finding.message
    assert "sample 3 is another one in the main process" in finding.message


def test_random_samples_are_a_warning():
    (finding,) = judged(proven=False)
    assert (finding.severity, finding.exact) == ("warning", False)
    assert "what they deliver is random" in finding.message


def test_it_is_told_once():
    assert judged(came=0, proven=True) == []
