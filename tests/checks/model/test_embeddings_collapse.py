"""Embeddings that become one point."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.embeddings_collapse import EmbeddingsCollapse
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.embedding_spread import EmbeddingSpread
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.finding import Finding
from tests.checks.optimizer.seen import at, line

STEPS = (0, 100, 200)


def said(spreads: list[float], sizes: list[float], last_loss: float = 1e-3, optimizers: int = 1) -> list[Finding]:
    """What the check says of three looks at two calls a step."""
    check = EmbeddingsCollapse()
    judge, got = Judge({check.slug: check}), []
    adam = OptimizerWiring(kind="Adam", frame=None, held=2, strangers=0)
    for step in range(220):
        facts = [Wiring(ref=at(0), params=(), optimizers=(adam,) * optimizers)] if step == 0 else []
        if step in STEPS:
            place = STEPS.index(step)
            spread = EmbeddingSpread(
                ref=at(step), root="Voice", frame=line(56), calls=2, rows=128, apart=spreads[place], size=sizes[place]
            )
            facts = [*facts, spread]
        got += judge.judge(at(step), {"loss": 1.0 if step < 16 else last_loss}, facts)
    return got


def test_a_loss_that_fell_with_the_spread():
    (finding,) = said([0.08, 0.004, 0.003], [0.16, 0.09, 0.09])
    assert finding.message == (
        "step 200, rank 0: the outputs of Voice (train.py:56) in 2 calls of a step, 128 rows, are 0.037 times as far "
        "apart as in step 0, and the loss went from 1 to 0.001; expected samples that stay apart. Look at the term "
        "that is to keep them apart."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", line(56))


@pytest.mark.parametrize(
    ("spreads", "sizes", "last_loss", "optimizers"),
    [
        ([0.08, 0.004, 0.05], [0.16, 0.09, 0.09], 1e-3, 1),
        ([0.08, 0.004, 0.003], [0.16, 0.008, 0.006], 1e-3, 1),
        ([0.08, 0.004, 0.003], [0.16, 0.09, 0.09], 0.5, 1),
        ([0.08, 0.004, 0.003], [0.16, 0.09, 0.09], 1e-3, 2),
        ([0.0, 0.0, 0.0], [0.16, 0.09, 0.09], 1e-3, 1),
    ],
    ids=["apart again", "only smaller", "not learnt", "two players", "never apart"],
)
def test_silent(spreads: list[float], sizes: list[float], last_loss: float, optimizers: int):
    assert said(spreads, sizes, last_loss, optimizers) == []
