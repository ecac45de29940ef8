"""What a line computes that can give NaN or Inf."""

from __future__ import annotations

import pytest

from debugtracer.source.risks import ARGUMENT, DIVISOR, DOMAIN, ROOT, risk


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("inverse = np.power(total, -1).squeeze()", DIVISOR),
        ("inverse = np.power(total, -0.5).flatten()", DIVISOR),
        ("inverse = total ** -1", DIVISOR),
        ("x = (x - x.mean(0)) / x.std(0)", DIVISOR),
        ("x /= x.max()", DIVISOR),
        ("x = np.divide(x, n)", DIVISOR),
        ("returns = np.log(price).diff()", ARGUMENT),
        ("s = nn.Parameter(torch.log(d))", ARGUMENT),
        ("r = np.sqrt(x)", ROOT),
        ("a = np.arccos(cosine)", DOMAIN),
        ("x = np.power(x, 2)", None),
        ("x = load(path)", None),
        ("x = (a,", None),
    ],
)
def test_the_remedy_of_a_line(code, remedy):
    assert risk(code) == remedy
