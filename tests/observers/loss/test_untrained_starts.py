"""Where training asks for words and where an evaluation writes on, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer import session
from debugtracer.trace.facts.untrained_start import UntrainedStart
from tests.observers.told import facts, findings
from tests.watching import under_watch

WORDS, PROMPT, LENGTH = 20, 5, 12


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(WORDS, 8), nn.Linear(8, WORDS)

    def forward(self, words):
        return self.head(self.words(words))


def write(model, words, count=4):
    with torch.no_grad():
        for _ in range(count):
            words = torch.cat([words, model(words)[:, -1].argmax(-1, keepdim=True)], 1)
    return words


def told(out, masked, begin=PROMPT, varied=False, ignored=-100, evaluate=None):
    torch.manual_seed(0)
    model = Writer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    texts = torch.randint(0, WORDS, (24, LENGTH))
    onward = texts[:, 1:].clone()
    places = torch.arange(LENGTH - 1)
    lengths = masked + torch.randint(0, 3, (24, 1)) if varied else torch.full((24, 1), masked)
    onward[places < lengths] = ignored
    with under_watch(out):
        for x, y in DataLoader(TensorDataset(texts[:, :-1], onward), 4):
            optimizer.zero_grad()
            F.cross_entropy(model(x).reshape(-1, WORDS), y.reshape(-1), ignore_index=ignored).backward()
            optimizer.step()
        (evaluate or write)(model, texts[:6, :begin])
    return facts(out, UntrainedStart), findings(out, "start-untrained")


@pytest.mark.parametrize("ignored", [-100, -1])
def test_a_mask_that_is_one_too_long_is_told(tmp_path, ignored):
    (fact,), said = told(tmp_path, PROMPT, ignored=ignored)
    assert (fact.root, fact.first, fact.given, fact.loss) == ("Writer", PROMPT, PROMPT, "cross_entropy")
    assert fact.frame.function == "write"
    assert [f.severity for f in said] == ["warning"]


def test_a_mask_over_the_prompt_is_silent(tmp_path):
    assert told(tmp_path, PROMPT - 1) == ([], [])


def test_a_model_that_is_never_asked_to_write_is_silent(tmp_path):
    assert told(tmp_path, PROMPT, evaluate=lambda model, words: model(words)) == ([], [])


def test_prompts_of_several_lengths_are_silent(tmp_path):
    assert told(tmp_path, PROMPT, varied=True) == ([], [])


def test_texts_that_are_not_written_on_are_silent(tmp_path):
    def other_texts(model, words):
        with torch.no_grad():
            for length in range(PROMPT, LENGTH):
                model(torch.randint(0, WORDS, (6, length)))

    assert told(tmp_path, PROMPT, evaluate=other_texts) == ([], [])


@pytest.mark.parametrize("begin", [4, PROMPT + 1, PROMPT + 2])
def test_texts_that_are_written_on_from_elsewhere_are_silent(tmp_path, begin):
    def both(model, words):
        write(model, words[:, :begin])
        write(model, words[:, :PROMPT])

    assert told(tmp_path, PROMPT, begin=LENGTH - 1, evaluate=both) == ([], [])


def test_what_was_noted_is_forgotten_when_steps_were_missed(tmp_path):
    with under_watch(tmp_path) as watched:
        observer = watched.dispatcher.observers["untrained-starts"]
        words = torch.randint(0, WORDS, (4, LENGTH))
        F.cross_entropy(Writer()(words).reshape(-1, WORDS), words.reshape(-1))
        assert observer.given and observer.targets
        watched.dispatcher.missed()
        assert not (observer.given or observer.targets)
