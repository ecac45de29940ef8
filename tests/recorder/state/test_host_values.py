"""A copy of a state holds its values of that moment, with what shares memory shared."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.state.host_values import host_values


def test_later_changes_do_not_reach_it() -> None:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rates": [0.1], "place": (1, {"a": [2]})}
    kept = host_values(state)
    weight, moment = kept["model"]["weight"].clone(), kept["optimizer"]["state"][0]["exp_avg"].clone()
    assert torch.equal(weight, model.weight)
    optimizer.step()
    state["rates"].append(0.2)
    state["place"][1]["a"].append(3)
    assert torch.equal(kept["model"]["weight"], weight) and not torch.equal(weight, model.weight)
    assert torch.equal(kept["optimizer"]["state"][0]["exp_avg"], moment)
    assert kept["rates"] == [0.1] and kept["place"] == (1, {"a": [2]})
    assert kept["model"]._metadata == state["model"]._metadata  # type: ignore[attr-defined]


def test_tied_weights_stay_one() -> None:
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.weight = a.weight
    kept = host_values(nn.Sequential(a, b).state_dict())
    assert kept["0.weight"] is kept["1.weight"] and kept["0.bias"] is not kept["1.bias"]


def test_other_layouts_are_copied_as_they_are() -> None:
    sparse, rows = torch.eye(3).to_sparse(), torch.eye(3).to_sparse_csr()
    kept = host_values({"s": sparse, "rows": rows, "none": torch.empty(0), "also": torch.empty(0)})
    sparse.zero_()
    assert torch.equal(kept["rows"].to_dense(), torch.eye(3)) and kept["rows"] is not rows
    assert torch.equal(kept["s"].to_dense(), torch.eye(3)) and kept["none"] is not kept["also"]
