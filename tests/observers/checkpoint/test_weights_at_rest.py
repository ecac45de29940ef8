"""Values that change between two updates of a real loop."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch import nn

from debugtracer.observers.checkpoint.rest_copies import RestChecksum
from debugtracer.observers.checkpoint.weights_at_rest import beyond, far_out, lone_far_out
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from tests.observers.observing import observed


def train(meddle, kind=torch.optim.Adam, steps: int = 12, **options) -> list[torch.Tensor]:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = kind(model.parameters(), lr=0.01, **options)
    for step in range(steps):
        meddle(step, model, optimizer)
        loss = model(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [p.detach().clone() for p in model.parameters()]


def flip(step, model, optimizer):
    if step == 2:  # an inspected step: looked at whatever it costs
        model[0].weight.data.view(torch.int32)[5, 2] ^= 1 << 28


def write(step, model, optimizer):
    if step == 2:
        with torch.no_grad():
            model[2].bias[0] = 1.0  # one element is all it has
            model[0].weight[1, 3] = 50.0


def moment(step, model, optimizer):
    if step == 2:
        optimizer.state[model[0].weight]["exp_avg_sq"].view(torch.int32)[0, 1] ^= 1 << 30


def test_a_flipped_bit_is_found_with_its_place(tmp_path):
    (fact,) = observed(tmp_path, lambda: train(flip), ValueChanged)
    assert (fact.param, fact.what, fact.index, fact.bits, fact.bit, fact.width, fact.written) == (
        "0.weight",
        "parameter",
        (5, 2),
        1,
        28,
        32,
        False,
    )
    assert (fact.ref.step, fact.ref.iteration) == (2, 2)


def test_a_flipped_bit_in_a_moment(tmp_path):
    (fact,) = observed(tmp_path, lambda: train(moment), ValueChanged)
    assert (fact.param, fact.what, fact.index, fact.bit) == ("0.weight", "exp_avg_sq", (0, 1), 30)


def block(step, model, optimizer):
    if step == 2:
        model[0].weight.data[:2] = 30.0


def restart(step, model, optimizer):
    if step == 2:
        model[0].weight.data.uniform_(-0.5, 0.5)


def test_a_block_that_is_far_larger_now_is_told_with_its_largest_element(tmp_path):
    (fact,) = observed(tmp_path, lambda: train(block), ValueChanged)
    assert (fact.param, fact.index, fact.count, fact.after, fact.written) == ("0.weight", (0, 0), 8, 30.0, False)


def test_a_tensor_that_starts_anew_is_the_programs(tmp_path):
    assert observed(tmp_path, lambda: train(restart), ValueChanged) == []


def test_two_changes_at_once_are_the_programs(tmp_path):
    assert observed(tmp_path, lambda: train(write), ValueChanged) == []


def nothing(step, model, optimizer):
    pass


def clamp(step, model, optimizer):
    for p in model.parameters():
        p.data.clamp_(-0.3, 0.3)


def average(step, model, optimizer):
    for p in model.parameters():
        p.data.mul_(0.999)


def load(step, model, optimizer):
    model.load_state_dict({name: value.clone() for name, value in model.state_dict().items()})


@pytest.mark.parametrize("meddle", [nothing, average, load], ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.SGD, torch.optim.Adagrad])
def test_programs_that_write_their_weights_are_silent(meddle, kind, tmp_path):
    assert observed(tmp_path, lambda: train(meddle, kind), ValueChanged) == []


def test_nothing_of_the_training_changes(tmp_path):
    kept: list[torch.Tensor] = []
    plain = train(clamp)
    observed(tmp_path, lambda: kept.extend(train(clamp)), ValueChanged)
    assert all(torch.equal(a, b) for a, b in zip(plain, kept, strict=True))


def test_at_an_incident_one_element_far_out_since_the_last_copies_is_told():
    old, moved = torch.linspace(-1, 1, 12).reshape(3, 4), torch.linspace(-1.2, 1.1, 12).reshape(3, 4)
    assert not far_out(moved, old)
    moved[1, 2] = float("inf")
    assert far_out(moved, old)
    assert beyond(moved, old).nonzero().tolist() == [[1, 2]]
    moved[0, 0] = 1e9  # two of them: an update did it
    assert not far_out(moved, old)
    assert not far_out(moved, torch.zeros(3, 4))


def rest(before: torch.Tensor, after: torch.Tensor, what: str = "parameter") -> tuple[RestChecksum, torch.Tensor]:
    return RestChecksum(weakref.ref(after), weakref.ref(after), what, 0, before), after


def test_weights_that_diverge_together_hold_no_lone_element():
    old = torch.linspace(-1, 1, 12)
    flipped, calm, grown = (old.clone() for _ in range(3))
    flipped[3] = -8850.0
    grown *= 20
    lone, others = rest(old, flipped), [rest(old, calm), rest(old, grown, "exp_avg_sq")]
    assert lone_far_out([lone[0], *(one for one, _ in others)]) is lone[0]
    diverged = rest(old, grown)
    assert lone_far_out([lone[0], others[0][0], diverged[0]]) is None
    flipped[5] = 9.0  # a neighbour has grown too
    assert lone_far_out([lone[0], others[0][0]]) is None
