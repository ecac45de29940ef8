"""What hands values on."""

from __future__ import annotations

import ast

import pytest

from debugtracer.callsites.origins.handed_on import carrier, kind_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.to(device).float()", "x"),
        ("torch.tensor(ids[:-1])", "ids"),
        ("[self.table[s] for s in text]", "self.table"),
        ("[w for w in words]", "words"),
        ("torch.tensor([r + [0] * (n - len(r)) for r in rows])", "rows"),
        ("[r + bias for r in rows]", "r + bias"),
        ("{k: torch.tensor(v) for k, v in out.items()}", "out"),
        ("{k: torch.stack([r[k] for r in rows]) for k in rows[0]}", "rows"),
        ("{k: v for k, v in zip(names, x)}", "{k: v for k, v in zip(names, x)}"),
        ("{k + 'x': v for k, v in out.items()}", "{k + 'x': v for k, v in out.items()}"),
        ("map(torch.from_numpy, pairs())", "pairs()"),
        ("map(double, pairs())", "map(double, pairs())"),
        ("x * 2", "x * 2"),
        ("model(x)", "model(x)"),
    ],
)
def test_the_expression_whose_values_these_are(text, expected):
    assert ast.unparse(carrier(ast.parse(text, mode="eval").body)) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x.cpu()", "handed"),
        ("data[3:9]", "formed"),
        ("data[end - 1]", "formed"),
        ("data[i // 4]", "handed"),
        ("data[i]", "handed"),
        ("np.load(path)['x']", "read"),
        ("x / 2", "made"),
    ],
)
def test_what_an_assignment_does(text, kind):
    assert kind_of(ast.parse(text, mode="eval").body) == kind
    assert kind_of(None) == "made"
