"""Averages that are evaluated with statistics of other weights."""

from __future__ import annotations

from debugtracer.checks.optimizer.statistics_unfit import StatisticsUnfit
from debugtracer.trace.facts.unfit_statistics import UnfitStatistics
from tests.checks.optimizer.seen import at, found, line


def fact(**other):
    given = {
        "kind": "Net", "how": "averaged", "norms": 2, "module": "norm", "off": 0.72, "trained": 0.03, "frame": line(57)
    }  # fmt: skip
    return UnfitStatistics(ref=at(239), **(given | other))


def test_an_average_is_told_at_the_line_that_evaluates_it():
    (finding,) = found(StatisticsUnfit(), [fact()])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "average_not_updated", line(57))
    assert finding.message == (
        "step 239, rank 0: the AveragedModel of Net is evaluated (train.py:57) with running statistics that are not "
        "its own: on this batch 72 % of the channels of its 2 batch norms (first norm) have another mean or variance, "
        "and 3 % in the trained network; expected statistics of the averaged weights. Run "
        "torch.optim.swa_utils.update_bn(loader, model) before the evaluation."
    )


def test_the_line_that_loads_the_weights_leads_where_it_is_known():
    (finding,) = found(StatisticsUnfit(), [fact(how="loaded", loaded=line(50), norms=1, module="")])
    assert (finding.place.frame, finding.place.symptom_frame) == (line(50), line(57))
    assert "the copy of Net whose weights were loaded (train.py:50) and is evaluated (train.py:57)" in finding.message
    assert "its 1 batch norm (first the norm)" in finding.message


def test_weights_that_were_exchanged_are_compared_with_the_networks_own():
    (finding,) = found(StatisticsUnfit(), [fact(how="exchanged")])
    assert "and 3 % with its own weights; expected statistics of the other weights" in finding.message
