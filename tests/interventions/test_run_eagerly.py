"""The same code without the compiler."""

from __future__ import annotations

import torch

from debugtracer.interventions.intervention import interventions
from tests.interventions.building import too_fast, trial


def test_a_step_that_is_replayed_eagerly_anyway_is_no_case(monkeypatch, tmp_path):
    assert (
        trial(monkeypatch, tmp_path, too_fast, "run-eagerly").refused
        == "the fault shows in eager code too, or nothing is compiled"
    )


def test_it_asks_for_eager_code_for_one_run(monkeypatch):
    rerun = type("Rerun", (), {"compiled": True, "throughout": []})()
    assert interventions()["run-eagerly"].refuses(rerun) == ""
    torch._dynamo.reset()
    graphs = []
    function = torch.compile(lambda x: x + 1, backend=lambda graph, inputs: graphs.append(1) or graph.forward)
    assert interventions()["run-eagerly"].apply(rerun) == "the compiled code run eagerly"
    with rerun.throughout[0]:
        function(torch.ones(2))
    assert graphs == []
    torch.compiler.set_stance("default")
    function(torch.ones(2))
    assert graphs == [1]
