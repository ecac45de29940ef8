"""Models with spectral norms that are evaluated before, or after, they were trained."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, spectral_norm

from debugtracer.observers.model.spectral_starts import estimates
from debugtracer.trace.facts.spectral_start import SpectralStart
from tests.observers.told import facts, findings
from tests.watching import under_watch


def net(norm=spectral_norm):
    return nn.Sequential(norm(nn.Linear(30, 40)), nn.ReLU(), norm(nn.Linear(40, 2)))


def run(model, before, checkpoint=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if checkpoint is not None:
        model.load_state_dict(checkpoint)
    for step in range(4):
        x = torch.randn(8, 30)
        if step > 0 or before:
            model.eval()
            with torch.no_grad():
                model(x)
        model.train()
        loss = nn.functional.cross_entropy(model(x), torch.arange(8) % 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_an_evaluation_before_the_first_step_is_told_with_its_line(tmp_path):
    torch.manual_seed(0)
    with under_watch(tmp_path / "runs"):
        run(net(), before=True)
    (fact,) = facts(tmp_path / "runs", SpectralStart)
    assert (fact.root, fact.of, set(fact.parts)) == ("Sequential", 2, {"0.weight", "2.weight"})
    assert fact.estimate < 0.5 * fact.norm
    assert fact.frame.code == "model(x)"
    (finding,) = findings(tmp_path / "runs", "spectral-unmeasured")
    assert finding.kind == "bad_init"


@pytest.mark.parametrize("kind", ["trained first", "parametrization", "from a checkpoint", "no norm"])
def test_what_has_measured_is_silent(tmp_path, kind):
    torch.manual_seed(0)
    model, trained = net(), net()
    run(trained, before=False)
    if kind == "parametrization":
        model = net(parametrizations.spectral_norm)
    if kind == "no norm":
        model = net(lambda layer: layer)
    checkpoint = trained.state_dict() if kind == "from a checkpoint" else None
    with under_watch(tmp_path / "runs"):
        run(model, kind != "trained first", checkpoint)
    assert facts(tmp_path / "runs", SpectralStart) == []


def test_an_estimate_is_what_the_weight_is_divided_by():
    torch.manual_seed(0)
    model = net().eval()
    with torch.no_grad():
        given = estimates(model)
    model(torch.randn(2, 30))
    for path, part in (("0.weight", model[0]), ("2.weight", model[2])):
        assert torch.allclose(part.weight_orig / given[path][0], part.weight, rtol=1e-4)
