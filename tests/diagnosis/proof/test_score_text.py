"""The scores of one trial in words."""

import pytest

from debugtracer.diagnosis.proof.score_text import outcome
from debugtracer.trace.verdict import Trial


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        (
            Trial(intervention="a", outcome="healed", loss=2.3142, grad_l2=1.0, probe_loss=2.4),
            "loss 2.314, gradients finite, a healthy batch after the update: 2.4",
        ),
        (Trial(intervention="a", outcome="not healed", loss="NaN"), "loss nan"),
        (Trial(intervention="a", outcome="not healed", loss=1.0, grad_l2="NaN"), "loss 1, gradients not finite"),
        (Trial(intervention="a", outcome="not healed", loss=1.0), "loss 1, still not healthy"),
        (Trial(intervention="a", outcome="could not run", note="no batch"), "could not run (no batch)"),
        (Trial(intervention="a", outcome="healed"), "all finite"),
    ],
)
def test_an_outcome_in_words(trial, said):
    assert outcome(trial) == said
