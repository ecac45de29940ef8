"""What is said of a batch that has lost samples."""

from __future__ import annotations

from debugtracer.checks.data.samples_lost import SamplesLost
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_lost_samples import lost


def found(**more: object) -> list[Finding]:
    fact = lost(**more)
    return list(SamplesLost().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


def test_says_which_tensors_the_first_sample_alone_changes():
    (finding,) = found()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_rows_left_out", lost().frame)
    assert finding.message == (
        "step 0, rank 0: of the 16 samples of a batch only the first changes batch['ids'] (1 x 38) and "
        "batch['labels'] (5 others exchanged), and all change batch['images']; expected a part of each sample. See how "
        "the collate function puts them together."
    )


def test_one_tensor_and_no_line():
    loader = Frame("/x/train.py", 60, "<module>", "")
    (finding,) = found(paths=("batch[0]",), whole=(), frame=None, loader_frame=loader)
    assert "changes batch[0] (1 x 38) (5 others exchanged); expected" in finding.message
    assert finding.place.frame == loader


def test_stays_silent_without_a_fact():
    assert not list(SamplesLost().judge(Window(lost().ref)))
