"""The words and data of `replay --with`, from trials at hand."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import torch

from debugtracer.commands._remedies import as_data, headline, place, remedies_known, remedy_text, wanted
from debugtracer.diagnosis.proof.offline_trials import TriedRemedy, try_offline
from debugtracer.docstrings import title
from debugtracer.errors import UsageError
from debugtracer.interventions.intervention import asked, interventions
from debugtracer.trace.birth import Birth, Frame
from debugtracer.trace.verdict import Outcome, Trial
from tests.replay.capsules import incident

BIRTH = Birth(op="aten::sqrt", direction="backward", kind="overflow", frames=(Frame("/home/me/model.py", 88),))


def tried(name: str, outcome: Outcome, birth: Birth | None = None) -> TriedRemedy:
    return TriedRemedy(
        Trial(
            intervention=name,
            outcome=outcome,
            loss=2.5,
            grad_l2=1.0 if birth is None else "NaN",
            note="something changed",
        ),
        birth,
    )


CONTROL = tried("unchanged", "reproduced", BIRTH)


def test_the_headline_says_what_healed() -> None:
    sick, well = tried("larger-eps=0.0001", "not healed", BIRTH), tried("stable-op=1e-06", "healed")
    assert headline([CONTROL]) == "unchanged, the fault comes again"
    assert headline([CONTROL, sick]) == "not healed by larger-eps=0.0001"
    assert headline([CONTROL, sick, well]) == "healed by stable-op=1e-06"
    assert (
        headline([CONTROL, well, tried("without-sample", "healed")])
        == "healed by stable-op=1e-06, without-sample, each alone"
    )
    assert (
        headline([tried("unchanged", "not reproduced"), well])
        == "unchanged, the fault does not come again here, so no trial tells anything"
    )


def test_a_row_ends_with_the_birth_of_what_is_left() -> None:
    assert (
        remedy_text(CONTROL)
        == "the fault came again; loss 2.5, gradients not finite; born in aten::sqrt (backward) at model.py:88"
    )
    assert remedy_text(tried("stable-op=1e-06", "healed")) == "healed: something changed; loss 2.5, gradients finite"
    far = remedy_text(tried("stable-op=1e-06", "not healed"))
    assert far == "not healed: something changed; loss 2.5; finite, but far outside of what the last steps had"
    assert place(Birth(op=None, direction="input", kind="input", input_name="batch[0]")) == "batch[0]"


def test_words_become_interventions_each_once() -> None:
    assert [one.name for one in wanted(["larger-eps=1e-3", "stable_op", "larger-eps=1e-3"])] == [
        "larger-eps=0.001",
        "stable-op=1e-06",
    ]
    assert {one.slug for one in wanted(["all"])} == set(interventions())
    with pytest.raises(UsageError, match="no intervention is called cure"):
        wanted(["cure"])


def test_data_says_reproduced_and_healed(tmp_path: Path) -> None:
    x, w = torch.tensor([[4.0], [0.0]]), torch.ones(1, requires_grad=True)
    capsule = incident(tmp_path, lambda: torch.sqrt(x * w).sum(), {"batch[0]": x, "parameter w": w}, rows=2)
    told = json.loads(as_data(capsule, try_offline(capsule, [asked("stable-op"), asked("other-batch")])))
    assert (told["schema"], told["step"], told["reproduced"], told["healed"]) == (
        "debug-tracer.replay-with/1",
        7,
        True,
        ["stable-op=1e-06"],
    )
    assert [trial["outcome"] for trial in told["trials"]] == ["reproduced", "healed", "could not run"]


def test_the_help_knows_each_intervention_with_an_offline_form_of_its_own() -> None:
    folder = Path(__file__).resolve().parents[2] / "src" / "debugtracer" / "interventions"
    for line in remedies_known().splitlines():
        slug, _, text = line.strip().partition(" ")
        assert type(interventions()[slug]).offline.__qualname__.split(".")[0] == type(interventions()[slug]).__name__
        source = (folder / f"{slug.replace('-', '_')}.py").read_text()
        assert title(ast.get_docstring(ast.parse(source)) or "") == text.strip()
