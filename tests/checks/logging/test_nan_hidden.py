"""NaN losses that a log leaves out."""

from __future__ import annotations

from debugtracer.checks.logging.nan_hidden import NanHidden
from debugtracer.trace.facts.logged import Logged
from tests.checks.crashes import REF, told


def test_losses_that_the_filter_replaced():
    (finding,) = told(NanHidden(), Logged(ref=REF, source="transformers", name="loss", value=0.693, hidden=2))
    assert finding.message == (
        "step 5, rank 0: the Trainer logged loss 0.693 although 2 losses since the last log were not finite "
        "(logging_nan_inf_filter); expected them in "
        "the log. Set logging_nan_inf_filter=False."
    )


def test_finite_losses_are_silent():
    assert told(NanHidden(), Logged(ref=REF, source="transformers", name="loss", value=0.693)) == []
