"""Codes that are chosen and handed on."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.straight_through import StraightThrough
from tests.observers.told import facts
from tests.watching import under_watch


class Quantiser(nn.Module):
    def __init__(self, look, hand_on, apart):
        super().__init__()
        self.encoder, self.decoder, self.table = nn.Linear(4, 3), nn.Linear(3, 4), nn.Embedding(6, 3)
        self.look, self.hand_on, self.apart = look, hand_on, apart

    def forward(self, x):
        z = self.encoder(x)
        q = self.look(torch.cdist(z, self.table.weight), self.table.weight)
        return self.decoder(self.hand_on(z, q)), self.apart(z, q)


def by_row(far, table):
    return F.embedding(far.argmin(1), table)


def by_mark(far, table):
    marks = torch.zeros_like(far)
    marks.scatter_(1, far.argmin(1).unsqueeze(1), 1)
    return torch.matmul(marks, table)


def by_hot(far, table):
    return F.one_hot((-far).topk(1).indices.view(-1), 6).float() @ table


def by_copy(far, table):
    """As with a table that follows averages."""
    return table.detach()[far.min(1).indices]


def by_measure(far, table):
    """As where the distances are computed without a graph."""
    with torch.no_grad():
        places = far.detach().min(1)[1]
    return F.embedding(places, table)


def commitment(z, q):
    return F.mse_loss(q.detach(), z) + F.mse_loss(q, z.detach())


def squares(z, q):
    return (z - q.detach()).square().mean() + (q - z.detach()).square().mean()


def as_it_is(z, q):
    return q


def run(out, look=by_row, hand_on=as_it_is, apart=commitment):
    torch.manual_seed(0)
    model = Quantiser(look, hand_on, apart)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(2):
            x = torch.randn(8, 4)
            heard, apart_by = model(x)
            optimizer.zero_grad()
            (F.mse_loss(heard, x) + apart_by).backward()
            optimizer.step()
    return [(f.how, f.ref.step, f.shape, f.choice, f.frame.function) for f in facts(out, StraightThrough)]


@pytest.mark.parametrize(
    ("look", "choice"),
    [(by_row, "argmin"), (by_mark, "argmin"), (by_hot, "topk"), (by_copy, "min"), (by_measure, "min")],
)
@pytest.mark.parametrize("apart", [commitment, squares])
def test_codes_that_go_on_in_place_of_what_they_stand_for_are_told_at_their_lookup(tmp_path, look, choice, apart):
    found = run(tmp_path, look, apart=apart)
    assert found == [("missing", step, (8, 3), choice, look.__name__) for step in (0, 1)]


@pytest.mark.parametrize(
    "hand_on",
    [
        lambda z, q: z + (q - z).detach(),
        lambda z, q: q + z - z.detach(),
        lambda z, q: z + (q.detach() - z.detach()),
        lambda z, q: (q.norm(dim=1, keepdim=True) / z.norm(dim=1, keepdim=True)).detach() * z,
        lambda z, q: z,  # a cluster of its own term
        lambda z, q: torch.cat([q[:, :1], z[:, 1:]], 1),
    ],
)
@pytest.mark.parametrize("look", [by_row, by_mark, by_copy, by_measure])
def test_a_gradient_past_the_choice_is_silent(tmp_path, look, hand_on):
    assert run(tmp_path, look, hand_on) == []


def test_codes_that_are_not_to_stand_for_anything_are_silent(tmp_path):
    """A word that was chosen and is read next, a route."""
    assert run(tmp_path, apart=lambda z, q: z.square().mean()) == []


def test_codes_of_steps_of_a_residual_are_silent_with_a_sum_that_passes(tmp_path):
    class Twice(Quantiser):
        def forward(self, x):
            z = rest = self.encoder(x)
            whole, apart = torch.zeros_like(z), 0.0
            for _ in range(2):
                q = by_row(torch.cdist(rest, self.table.weight), self.table.weight)
                apart = apart + commitment(rest, q)
                rest, whole = rest - q.detach(), whole + q
            return self.decoder(self.hand_on(z, whole)), apart

    for name, hand_on, told in (("a", lambda z, q: z + (q - z).detach(), False), ("b", as_it_is, True)):
        torch.manual_seed(0)
        model = Twice(by_row, hand_on, commitment)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with under_watch(tmp_path / name):
            x = torch.randn(8, 4)
            heard, apart = model(x)
            (F.mse_loss(heard, x) + apart).backward()
            optimizer.step()
        assert bool(facts(tmp_path / name, StraightThrough)) is told


def test_accuracy_and_values_of_actions_are_no_codes(tmp_path):
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(2):
            scores = model(torch.randn(8, 4))
            best = scores.argmax(1)
            value = scores.gather(1, best[:, None])[:, 0]
            optimizer.zero_grad()
            (F.mse_loss(value, torch.ones(8)) + F.cross_entropy(scores, best)).backward()
            optimizer.step()
    assert facts(tmp_path, StraightThrough) == []


class Passing(torch.autograd.Function):
    """Looks codes up and gives their gradient to what they stand for."""

    @staticmethod
    def forward(ctx, z, table):
        places = torch.cdist(z, table).min(1)[1]
        ctx.mark_non_differentiable(places)
        return table.index_select(0, places), places

    @staticmethod
    def backward(ctx, gradient, _):
        return gradient.clone(), None


@pytest.mark.parametrize("uses", [True, False])
def test_of_codes_looked_up_twice_those_with_a_gradient_are_to_be_handed_on(tmp_path, uses):
    class Coder(Quantiser):
        def forward(self, x):
            z = self.encoder(x)
            passing, places = Passing.apply(z, self.table.weight.detach())
            q = self.table.weight.index_select(0, places)
            return self.decoder(passing if uses else q), commitment(z, q)

    torch.manual_seed(0)
    model = Coder(by_row, as_it_is, commitment)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        x = torch.randn(8, 4)
        heard, apart = model(x)
        (F.mse_loss(heard, x) + apart).backward()
        optimizer.step()
    found = [(f.twice, f.handed_on.code) for f in facts(tmp_path, StraightThrough)]
    assert found == ([] if uses else [(True, "return self.decoder(passing if uses else q), commitment(z, q)")])


def test_the_value_of_the_best_next_action_is_no_code(tmp_path):
    """Double Q-learning: the places come without a graph, and only a target is made of what is looked up there."""
    torch.manual_seed(0)
    online, target = nn.Linear(4, 3), nn.Linear(4, 3)
    optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(2):
            now, later = torch.randn(8, 4), torch.randn(8, 4)
            with torch.no_grad():
                value = target(later).gather(1, online(later).argmax(1, keepdim=True))
            optimizer.zero_grad()
            F.mse_loss(online(now)[:, :1], value).backward()
            optimizer.step()
    assert facts(tmp_path, StraightThrough) == []


def test_an_evaluation_before_it_takes_no_room(tmp_path):
    torch.manual_seed(0)
    model = Quantiser(by_measure, as_it_is, commitment)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        x = torch.randn(8, 4)
        with torch.no_grad():
            for _ in range(20):
                model(x)
        heard, apart = model(x)
        (F.mse_loss(heard, x) + apart).backward()
        optimizer.step()
    assert [f.choice for f in facts(tmp_path, StraightThrough)] == ["min"]
