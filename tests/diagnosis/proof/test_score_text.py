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


@pytest.mark.parametrize(
    ("trial", "symptom", "said"),
    [
        (Trial(intervention="a", outcome="healed", loss=2.0, grad_l2=1.0), "bad_update",
         "loss 2, parameters finite after the update"),
        (Trial(intervention="a", outcome="not healed", loss=2.0, grad_l2=1.0), "bad_update",
         "loss 2, gradients finite"),
        (Trial(intervention="a", outcome="not healed", grad_l2="-Infinity"), "", "gradients not finite"),
        (Trial(intervention="a", outcome="healed", loss=2.0), "", "loss 2"),
        (Trial(intervention="a", outcome="not healed", loss="Infinity"), "", "loss inf"),
        (Trial(intervention="a", outcome="not healed"), "", "still not finite"),
        (Trial(intervention="a", outcome="not healed", loss=2.0, spread=0.25, grad_l2=1.0), "", "loss 2 ± 0.25"),
        (Trial(intervention="a", outcome="healed", spread=0.25), "", "all finite"),
    ],
)  # fmt: skip
def test_each_part_is_said_where_it_is_known(trial, symptom, said):
    assert outcome(trial, symptom) == said
