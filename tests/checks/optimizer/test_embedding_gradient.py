"""The share of an embedding in the gradient."""

from __future__ import annotations

from debugtracer.checks.optimizer.embedding_gradient import EmbeddingGradient, share_of
from tests.checks.test_snapshots import a_snapshot, an_activation, an_update, judged
from tests.trace.facts.test_health import a_row


def at(step, embedding, function="Embedding"):
    rows = (a_row("emb.weight", role="gradient", l2=embedding), a_row("out.weight", role="gradient", l2=1.0))
    return a_snapshot(step, *rows, an_activation("emb", function), params=(an_update("emb.weight"),))


def test_a_share_far_above_its_usual_is_a_note():
    usual = [at(step, 0.2) for step in (0, 1, 2, 100)]
    (finding,) = judged(EmbeddingGradient(), *usual, at(200, 9.0))
    assert (finding.severity, finding.step, finding.place.param) == ("note", 200, "emb.weight")
    assert finding.message == (
        "step 200, rank 0: emb.weight has 99% of the gradient norm, 5.1 times its usual share; expected below 3 times. "
        "A loss spike may follow: shrink its gradient."
    )


def test_a_usual_share_a_short_history_and_other_layers_are_left_alone():
    assert judged(EmbeddingGradient(), *(at(step, 9.0) for step in range(6))) == []
    assert judged(EmbeddingGradient(), at(0, 0.2), at(1, 9.0)) == []
    assert judged(EmbeddingGradient(), *(at(step, 0.2, "Linear") for step in range(5)), at(100, 9.0, "Linear")) == []
    assert share_of(at(0, 0.0), "missing") is None
