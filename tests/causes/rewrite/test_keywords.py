"""Arguments of constructors and losses."""

from __future__ import annotations

import pytest

from debugtracer.causes.rewrite.rewritten import rewritten

ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)"


def test_a_rate_is_a_tenth_or_divided_by_what_was_tried():
    assert rewritten(ADAM, "lower-lr") == ("optimizer = torch.optim.Adam(model.parameters(), lr=0.0001)",)
    assert rewritten(ADAM, "lower-lr", 2.0) == ("optimizer = torch.optim.Adam(model.parameters(), lr=0.0005)",)
    assert rewritten("opt = SGD(net.parameters(), 0.5)", "lower-lr") == ("opt = SGD(net.parameters(), 0.05)",)
    assert rewritten("opt = SGD(net.parameters(), lr=a * b)", "lower-lr") == (
        "opt = SGD(net.parameters(), lr=(a * b) / 10)",
    )
    assert rewritten('opt.param_groups[0]["lr"] = 0.15', "lower-lr") == ('opt.param_groups[0]["lr"] = 0.015',)
    assert rewritten("opt = Adam(model.parameters())", "lower-lr") is None


def test_an_eps_fits_the_dtype_of_the_parameters():
    assert rewritten(ADAM, "larger-eps", dtype="float16") == (
        "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=0.0001)",
    )
    assert rewritten("opt = Adam(p, eps=1e-8)", "larger-eps") == ("opt = Adam(p, eps=0.0001)",)
    assert rewritten("norm = nn.LayerNorm(8, eps=1e-12)", "larger-eps") == ("norm = nn.LayerNorm(8, eps=1e-05)",)
    assert rewritten("opt = SGD(p, lr=1)", "larger-eps") is None


def test_beta2_keeps_beta1():
    assert rewritten("opt = AdamW(p, betas=(0.8, 0.999))", "lower-beta2") == ("opt = AdamW(p, betas=(0.8, 0.95))",)
    assert rewritten("opt = AdamW(p, lr=x)", "lower-beta2") == ("opt = AdamW(p, lr=x, betas=(0.9, 0.95))",)
    assert rewritten("opt = AdamW(p, betas=())", "lower-beta2") == ("opt = AdamW(p, betas=(0.9, 0.95))",)
    assert rewritten("opt = AdamW(p, betas=BETAS)", "lower-beta2") is None


@pytest.mark.parametrize(
    ("code", "edit", "after"),
    [
        ("loader = DataLoader(data, batch_size=8)", "shuffle", "loader = DataLoader(data, batch_size=8, shuffle=True)"),
        ("loader = DataLoader(data, shuffle=False)", "shuffle", "loader = DataLoader(data, shuffle=True)"),
        ("loader = DataLoader(data, sampler=s)", "shuffle", None),
        ("loader = DataLoader(data, shuffle=True)", "shuffle", None),
        ("loader = DataLoader(data, **options)", "drop-last", None),
        ("loader = DataLoader(data, 8)", "drop-last", "loader = DataLoader(data, 8, drop_last=True)"),
        ("loss = nn.CTCLoss()", "zero-infinity", "loss = nn.CTCLoss(zero_infinity=True)"),
        (
            "loss = F.cross_entropy(a, b, label_smoothing=0.1)",
            "no-label-smoothing",
            "loss = F.cross_entropy(a, b, label_smoothing=0.0)",
        ),
        ("loss = F.cross_entropy(a, b)", "no-label-smoothing", None),
        ('loss = nn.MSELoss(reduction="sum")', "mean-reduction", 'loss = nn.MSELoss(reduction="mean")'),
        ("model = DDP(model)", "find-unused", "model = DDP(model, find_unused_parameters=True)"),
        ("model.load_state_dict(state, strict=False)", "strict-load", "model.load_state_dict(state, strict=True)"),
        ("s = x.std(0, unbiased=True)", "population-spread", None),
        ("h = F.relu(h, inplace=True)", "inplace-off", "h = F.relu(h, inplace=False)"),
        ("h = F.relu(h)", "inplace-off", None),
    ],
)
def test_one_keyword_is_given_or_changed_and_nothing_else(code, edit, after):
    assert rewritten(code, edit) == ((after,) if after else None)


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("learning_rate = 0.5", "learning_rate = 0.05"),
        ("lr: float = 0.5", "lr: float = 0.05"),
        (
            'parser.add_argument("--lr", default=4.0)',
            'parser.add_argument("--lr", default=0.4)',
        ),
        ("layers = 5", None),
        ('parser.add_argument("--steps", default=400)', None),
    ],
)
def test_a_constant_or_an_option_that_is_a_rate(line, after):
    assert rewritten(line, "lower-lr") == (None if after is None else (after,))
