"""A function of ours in torch's place adds no graph to compiled code."""

from __future__ import annotations

import torch

from debugtracer.hooks.skipped_code import compiling, unseen


def test_its_frame_is_not_compiled_and_what_it_calls_is():
    torch._dynamo.reset()
    graphs = []

    def inner(x):
        return x * 2

    @unseen
    def stand_in(x):
        graphs.append("ours")
        return inner(x + 1)

    run = torch.compile(lambda x: stand_in(x), backend=lambda graph, inputs: graphs.append("graph") or graph.forward)
    assert torch.equal(run(torch.ones(2)), torch.full((2,), 4.0))
    assert graphs.count("ours") == 1
    torch._dynamo.reset()


def test_inside_of_compiled_code_we_stand_aside():
    assert not compiling()
    seen = []
    torch._dynamo.reset()

    @torch.compile(backend="eager")
    def run(x):
        torch._dynamo.graph_break()
        seen.append(compiling())
        return x + 1

    run(torch.ones(2))
    assert seen == [True] and not compiling()
    torch._dynamo.reset()


def test_what_has_no_code_is_given_back():
    assert unseen(len) is len
