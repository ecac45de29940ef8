"""Healthy steps hold infinities, empty memory and odd types; none of them has a birth."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.replay.tracing import trace


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("family", ["gpt2", "bert", "llama"])
def test_tiny_language_models_with_padding(family, attention):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    small = {
        "vocab_size": 40,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "attn_implementation": attention,
    }
    if family == "gpt2":
        model = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(vocab_size=40, n_embd=16, n_layer=2, n_head=2, attn_implementation=attention)
        )
    elif family == "bert":
        model = transformers.BertForMaskedLM(transformers.BertConfig(intermediate_size=32, **small))
    else:
        model = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(intermediate_size=32, num_key_value_heads=1, **small)
        )
    ids = torch.randint(0, 40, (3, 7))
    keep = torch.ones(3, 7, dtype=torch.long)
    keep[1, 4:] = 0
    keep[2, :3] = 0
    labels = ids.masked_fill(keep == 0, -100)
    assert (
        trace(lambda: model(input_ids=ids, attention_mask=keep, labels=labels).loss, model, rows=3, batch0=ids) is None
    )


def test_recurrent_layers_and_packed_sequences():
    model = nn.LSTM(3, 4, num_layers=2, dropout=0.1, bidirectional=True)
    x = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 3), [5, 3, 2])
    assert trace(lambda: model(x)[0].data.sum(), model) is None


def test_ctc_whose_alphas_are_minus_infinity_by_design():
    logits = torch.randn(12, 3, 6, requires_grad=True)
    targets, lengths = torch.randint(1, 6, (3, 4)), torch.tensor([4, 2, 1])
    assert (
        trace(lambda: F.ctc_loss(logits.log_softmax(-1), targets, torch.full((3,), 12), lengths), rows=3, batch0=logits)
        is None
    )


def test_batch_norm_pooling_and_gumbel_and_fft():
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Dropout(0.5),
        nn.Flatten(),
        nn.LazyLinear(5),
    )
    x = torch.randn(4, 2, 10, 10)
    model(x)
    assert (
        trace(
            lambda: F.gumbel_softmax(model(x), hard=True).sum() + torch.fft.rfft(x).abs().mean(),
            model,
            rows=4,
            batch0=x,
        )
        is None
    )


def test_sparse_embeddings_and_embedding_bags():
    model = nn.ModuleList([nn.Embedding(9, 3, sparse=True), nn.EmbeddingBag(9, 3, mode="mean")])
    tokens = torch.tensor([[1, 2], [3, 3]])
    assert trace(lambda: (model[0](tokens).mean(1) + model[1](tokens)).sum(), model, batch0=tokens) is None


def test_a_bad_value_in_a_sparse_gradient_is_found():
    model = nn.Embedding(9, 3, sparse=True)
    tokens = torch.tensor([1, 2])
    birth = trace(lambda: (model(tokens).sum(-1) * 0).sqrt().sum(), model, rows=2, batch0=tokens)
    assert birth is not None and (birth.op, birth.direction, birth.rows) == ("aten::sqrt", "backward", (0, 1))


def test_types_without_arithmetic_do_not_crash():
    x = torch.randn(4)

    def step():
        low = x.to(torch.float8_e4m3fn)
        whole = (x > 0) & torch.tensor([True, False, True, True])
        return low.float().sum() + whole.int().sum() + torch.empty(0).sum() + torch.view_as_real(torch.fft.fft(x)).sum()

    assert trace(step, batch0=x) is None


def test_nested_tensors_do_not_crash():
    parts = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged, requires_grad=True)
    assert trace(lambda: torch.nested.to_padded_tensor(parts, 0.0).sum()) is None


def test_tied_weights_and_multihead_attention_with_a_mask():
    attention, emb = nn.MultiheadAttention(8, 2, batch_first=True), nn.Embedding(11, 8)
    model = nn.ModuleDict({"attention": attention, "emb": emb})
    tokens = torch.randint(0, 11, (3, 5))
    pad = torch.zeros(3, 5, dtype=torch.bool)
    pad[:, 4] = True

    def step():
        x = emb(tokens)
        return F.cross_entropy(
            (attention(x, x, x, key_padding_mask=pad)[0] @ emb.weight.T).flatten(0, 1), tokens.flatten()
        )

    assert trace(step, model, rows=3, batch0=tokens) is None


def test_a_running_minimum_that_starts_at_infinity():
    x = torch.randn(6, requires_grad=True)

    def step():
        best = torch.full((), float("inf"))
        for value in x:
            best = torch.minimum(best, value)
        return best

    assert trace(step, batch0=x) is None
