"""Four bugs (docs/rationale/replay.md#four-bugs) in a two-block transformer with hand-written attention, and its
healthy twins."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.replay.tracing import line_of, trace

BATCH, LENGTH, VOCABULARY = 8, 6, 11


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.half = False

    def forward(self, x, pad, scale):
        q, k, v = self.qkv(x).chunk(3, -1)
        q = q * scale[:, None, None]
        if self.half:
            q, k = q.half(), k.half()
        scores = torch.matmul(q, k.transpose(1, 2))
        scores = scores - scores.amax(-1, keepdim=True)
        scores = scores.float() / math.sqrt(x.shape[-1])
        scores = scores.masked_fill(pad[:, None, :], float("-inf"))
        weights = torch.softmax(scores, -1)
        return self.o(weights @ v)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn, self.norm = Attention(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x, pad, scale):
        x = x + self.attn(self.norm(x), pad, scale)
        return x + self.mlp(x)


class Model(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.emb, self.head = nn.Embedding(VOCABULARY, d), nn.Linear(d, VOCABULARY)
        self.blocks = nn.ModuleList(Block(d) for _ in range(2))

    def forward(self, tokens, pad, scale):
        x = self.emb(tokens)
        for block in self.blocks:
            x = block(x, pad, scale)
        return self.head(x)


def entropy_loss(logits, hidden):
    p = torch.softmax(logits.masked_fill(hidden[:, None], float("-inf")), -1)
    log_p = torch.log(p)
    return (p * log_p).sum(-1).mean()


def distance_loss(logits, anchor):
    z = logits.flatten(1) - anchor
    return torch.sqrt((z * z).sum(-1)).mean()


@pytest.fixture
def world():
    torch.manual_seed(0)
    model = Model()
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH))
    pad = torch.zeros(BATCH, LENGTH, dtype=torch.bool)
    pad[:, -2:] = True  # legitimate padding in every row
    return model, tokens, pad, torch.ones(BATCH)


def run(world, loss=None):
    model, tokens, pad, scale = world
    loss = loss or (lambda logits: F.cross_entropy(logits.flatten(0, 1), tokens.flatten()))
    inputs = {"batch0": tokens, "batch1": pad, "batch2": scale}
    return trace(lambda: loss(model(tokens, pad, scale)), model, rows=BATCH, **inputs)


def test_mask_a_fully_padded_row(world):
    world[2][3] = True
    birth = run(world)
    assert birth is not None and (birth.op, birth.kind, birth.module, birth.rows) == (
        "aten::_softmax",
        "inf-inf",
        "blocks.0.attn",
        (3,),
    )
    assert line_of(birth) == "weights = torch.softmax(scores, -1)"


def test_mask_twin_is_silent(world):
    assert run(world) is None


def test_fp16_overflow_of_unscaled_scores_is_the_matmul_and_not_the_difference_after_it(world):
    for block in world[0].blocks:
        block.attn.half = True
    world[3][3] = 2e4
    birth = run(world)
    assert birth is not None and (birth.op, birth.kind, birth.module, birth.rows) == (
        "aten::bmm",
        "overflow",
        "blocks.0.attn",
        (3,),
    )
    assert (
        line_of(birth) == "scores = torch.matmul(q, k.transpose(1, 2))"
        and birth.output is not None
        and birth.output.dtype == "float16"
    )


def test_fp16_twin_is_silent(world):
    for block in world[0].blocks:
        block.attn.half = True
    assert run(world) is None


def test_log0_in_a_loss_outside_the_model(world):
    hidden = torch.zeros(BATCH, VOCABULARY, dtype=torch.bool)
    hidden[3, 4] = True
    birth = run(world, lambda logits: entropy_loss(logits, hidden))
    assert birth is not None and (birth.op, birth.module, birth.rows) == ("aten::log", None, (3,))
    assert line_of(birth) == "log_p = torch.log(p)" and any(link.op == "aten::mul" and link.nan for link in birth.chain)


def test_log0_twin_is_silent(world):
    assert run(world, lambda logits: entropy_loss(logits, torch.zeros(BATCH, VOCABULARY, dtype=torch.bool))) is None


def test_sqrt0_is_a_backward_birth_at_the_forward_line(world):
    model, tokens, pad, scale = world
    with torch.no_grad():
        target = model(tokens, pad, scale).flatten(1)
        target[torch.arange(BATCH) != 3] += 1
    birth = run(world, lambda logits: distance_loss(logits, target))
    assert birth is not None and (birth.op, birth.direction, birth.backward_op) == (
        "aten::sqrt",
        "backward",
        "aten::div",
    )
    assert birth.rows == (3,) and birth.module is None and "torch.sqrt" in line_of(birth)


def test_sqrt0_twin_is_silent(world):
    assert run(world, lambda logits: distance_loss(logits, torch.ones(BATCH, LENGTH * VOCABULARY))) is None
