"""Incidents put to trials in a real loop under watch."""

import torch
from torch import nn

from tests.watching import LogHead, batches, incidents, only, train, under_watch


def test_a_log_of_a_negative_number_is_tried_and_told(tmp_path):
    torch.manual_seed(0)
    with under_watch(tmp_path):
        train(LogHead(), batches(12, bad=9))
    verdict = incidents(tmp_path)[0].verdict
    assert verdict.kind == "log_domain"
    assert verdict.trials[0].intervention == "unchanged"
    assert verdict.trials[0].outcome == "reproduced"
    healed = {t.intervention.partition("=")[0] for t in verdict.trials if t.outcome == "healed"}
    assert healed & {"stable-op", "other-batch", "without-sample"}
    assert verdict.tested
    assert verdict.seconds > 0


def test_no_trials_when_none_are_allowed(tmp_path):
    torch.manual_seed(0)
    with under_watch(tmp_path, trials=0):
        train(LogHead(), batches(12, bad=9))
    verdict = incidents(tmp_path)[0].verdict
    assert verdict.kind == "log_domain"
    assert verdict.trials == ()


def test_bad_weights_are_healed_by_older_ones_and_by_no_other_batch(tmp_path):
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    memory = model.weight.detach().numpy()  # written past torch, as failing hardware does
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step, x in enumerate(batches(24)):
            if step == 20:
                memory[0, 1] = float("nan")
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
    verdict = incidents(tmp_path)[0].verdict
    outcomes = {t.intervention.partition("=")[0]: t.outcome for t in verdict.trials}
    assert outcomes["older-weights"] == "healed"
    assert outcomes.get("other-batch", "not healed") == "not healed"
    assert verdict.kind in ("silent_data_corruption", "weights_nonfinite")


def test_generators_weights_and_flags_are_as_before(tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(LogHead(), nn.Dropout(0.2))
    flags = torch.are_deterministic_algorithms_enabled()
    with under_watch(tmp_path):
        train(model, batches(6, bad=None))
        torch.manual_seed(4)
        state = torch.get_rng_state()
        weights = [p.detach().clone() for p in model.parameters()]
        loss = model(batches(1, bad=0)[0]).pow(2).mean()
        drawn = torch.get_rng_state()
        loss.backward()
        assert torch.equal(torch.get_rng_state(), drawn)
        assert not torch.equal(state, drawn)
        assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))
    assert only(tmp_path).verdict.trials
    assert torch.are_deterministic_algorithms_enabled() == flags


def test_a_batch_that_the_step_itself_rewrites_is_not_cleared_by_another_in_its_place(tmp_path):
    torch.manual_seed(0)
    model = LogHead()
    with under_watch(tmp_path, mode="observe"):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(12):
            x = torch.rand(8, 4) + 0.1
            if step == 9:
                x[3] = -5.0
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
    verdict = incidents(tmp_path)[0].verdict
    assert not [
        t
        for t in verdict.trials
        if t.outcome == "not healed" and t.intervention in ("other-batch", "without-sample", "sanitised-batch")
    ]
    assert any("the step itself writes into this batch at test_prove.py" in t.note for t in verdict.trials)
    assert not any("neither in this batch" in text for text in verdict.evidence)


def test_an_infinity_that_was_in_the_input_before_the_step_is_the_datas_without_a_loader_too(tmp_path):
    torch.manual_seed(0)
    given = [torch.randn(8, 4) for _ in range(12)]
    given[9][3, 1] = float("inf")
    with under_watch(tmp_path, mode="observe"):
        train(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)), given)
    verdict = incidents(tmp_path)[0].verdict
    assert (verdict.kind, verdict.batch_rows) == ("data_nonfinite", (3,))
    assert "input 0 of the model holds non-finite values (0 NaN, 1 Inf)" in verdict.summary
