"""Where tensors of a step come from, without a graph."""

from __future__ import annotations

import torch
from torch import nn
from torch.distributions import Categorical, Normal

from debugtracer.observers.graph.model_origins import FIRST_CALLS, LAST_CALLS, ModelCall, ModelOrigins, Origin, tensors
from debugtracer.recorder.state.weak import WeakRef


def called(origins, output):
    model = nn.Linear(1, 1)
    origins.returned(ModelCall(WeakRef(model), 0, None, ()), output)
    return output


def passed(origins, function, *given, name=""):
    output = function(*given)
    origins.passed(function, name or function.__name__, given, output)
    return output


def test_functions_are_counted_and_moves_are_not():
    origins = ModelOrigins()
    scores = called(origins, torch.rand(6))
    logs = passed(origins, torch.log, scores)
    rows = passed(origins, torch.reshape, logs, (2, 3))
    assert origins.of(rows) == Origin(frozenset({0}), frozenset({"log"}), frozenset())


def test_a_write_marks_the_buffer_and_what_it_is_a_part_of():
    origins = ModelOrigins()
    scores, buffer = called(origins, torch.rand(3)), torch.zeros(4, 3)
    passed(origins, torch.Tensor.__setitem__, buffer, 0, scores)
    assert origins.of(buffer) == Origin(frozenset({0}))
    other = torch.zeros(4, 3)
    passed(origins, torch.Tensor.copy_, other[1], scores)
    assert origins.of(other) == Origin(frozenset({0}))


def test_a_draw_is_no_longer_what_the_model_said():
    origins = ModelOrigins()
    shares = called(origins, torch.rand(3, 4))
    chosen = passed(origins, torch.multinomial, shares, 1)
    assert origins.of(chosen) == Origin(drawn=frozenset({0}))


def test_numbers_that_came_back_from_a_list_are_known_again():
    origins = ModelOrigins()
    scores = called(origins, torch.randn(8))
    assert origins.of_values(torch.tensor(scores.tolist())) == Origin(frozenset({0}))
    assert origins.of_values(torch.randn(8)) is None
    assert origins.of_values(torch.zeros(8)) is None


def test_the_first_calls_and_the_last_are_kept():
    origins = ModelOrigins()
    for _ in range(400):
        called(origins, torch.rand(1))
    assert len(origins.calls) == FIRST_CALLS + LAST_CALLS and max(origins.calls) == 399 and min(origins.calls) == 0
    origins.clear()
    assert not origins.calls and not origins.values and origins.number == -1


def test_tensors_inside_a_distribution_are_found():
    assert len(list(tensors((Normal(torch.zeros(2), torch.ones(2)), {"x": torch.ones(1)})))) == 3
    assert list(tensors(Categorical(logits=torch.zeros(3)))) and not list(tensors("word"))
