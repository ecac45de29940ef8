"""Losses of texts with hidden words, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.scored_givens import ScoredGivens
from tests.observers.observing import observed
from tests.observers.told import findings
from tests.watching import under_watch

WORDS, LENGTH, MASK = 40, 12, 39


class Net(nn.Module):
    """Words in, words out; a decoder reads words of its own."""

    def __init__(self):
        super().__init__()
        self.words, self.read, self.say = (
            nn.Embedding(WORDS, 16),
            nn.GRU(16, 16, batch_first=True),
            nn.Linear(16, WORDS),
        )

    def forward(self, ids, more=None):
        said = self.read(self.words(ids))[0]
        return self.say(said if more is None else said + self.words(more))


def program(loss_of, share=0.15, others=0.0, decoder=False):
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        text = torch.randint(1, MASK, (16, LENGTH))
        hidden, noise = torch.rand(text.shape) < share, torch.rand(text.shape) < others
        given = text.masked_fill(hidden, MASK)
        given[noise] = torch.randint(1, MASK, (int(noise.sum()),))
        more = torch.cat([torch.zeros(16, 1, dtype=torch.long), text[:, :-1]], 1) if decoder else None
        optimizer.zero_grad()
        loss_of(model(given, more), text, hidden).backward()
        optimizer.step()


def of_all(scores, text, hidden):
    labels = text.clone()
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten())


def of_all_as_maps(scores, text, hidden):
    return nn.CrossEntropyLoss()(scores.transpose(1, 2), text)


@pytest.mark.parametrize("loss_of", [of_all, of_all_as_maps])
@pytest.mark.parametrize("others", [0.0, 0.02])
def test_a_loss_of_all_words_is_told(tmp_path, loss_of, others):
    facts = observed(tmp_path, lambda: program(loss_of, others=others), ScoredGivens)
    assert {(one.places, one.mask) for one in facts} == {(16 * LENGTH, MASK)} and len(facts) >= 3
    assert [one.severity for one in findings(tmp_path, "givens-scored")] == ["warning"]


def of_hidden(scores, text, hidden):
    return F.cross_entropy(scores.flatten(0, 1), torch.where(hidden, text, -100).flatten())


def of_chosen(scores, text, hidden):
    return F.cross_entropy(scores[hidden], text[hidden])


def weighed(scores, text, hidden):
    return F.cross_entropy(scores.transpose(1, 2), text, reduction="none")[hidden].mean()


@pytest.mark.parametrize("loss_of", [of_hidden, of_chosen, weighed])
def test_a_loss_of_the_hidden_words_is_silent(tmp_path, loss_of):
    assert observed(tmp_path, lambda: program(loss_of), ScoredGivens) == []


@pytest.mark.parametrize("more", [{"decoder": True}, {"share": 0.0, "others": 0.2}, {"share": 0.6}])
def test_a_decoder_other_noise_and_much_of_it_are_silent(tmp_path, more):
    observed(tmp_path, lambda: program(of_all, **more), ScoredGivens)
    assert findings(tmp_path, "givens-scored") == []


def test_a_step_that_was_not_seen_to_its_end_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["scored-givens"]
        observer.given.append(torch.zeros(16, LENGTH, dtype=torch.long))
        session.dispatcher.missed()
        assert observer.given == []
