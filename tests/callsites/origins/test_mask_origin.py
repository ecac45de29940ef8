"""Where the mask of an attention was made."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.origins.mask_origin import mask_made
from debugtracer.trace.birth import Frame

TEXT = """\
class Attention:
    def forward(self, q, k, v, mask=None):
        score = q @ k
        score = score.masked_fill(mask == 0, -1e4)
        score = self.softmax(score)
        return score @ v
class Decoder:
    def make_mask(self, ids):
        pad = (ids != 0)
        ahead = torch.tril(torch.ones(4, 4))
        both = pad | ahead
        return both
    def padding(self, ids):
        pad = (ids != 0)
        return pad
    def forward(self, ids):
        mask = self.make_mask(ids)
        pad = self.padding(ids)
        a = self.attention(q, k, v, mask=mask)
        return self.attention(q, k, v, mask=pad)
class Plain:
    def forward(self, q, k, v):
        n = 4
        band = torch.ones(n, n).tril()
        return F.scaled_dot_product_attention(q, k, v, attn_mask=band)
"""


def test_through_the_callers_and_the_function_that_put_two_masks_together(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(TEXT)
    lines = lambda *numbers: [f.line for f in mask_made([Frame(str(file), n) for n in numbers])]  # noqa: E731
    assert lines(5, 19) == [11, 17]
    assert lines(25) == [24]


def test_a_mask_of_the_padding_alone_lacks_the_other_where_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(TEXT)
    assert mask_made([Frame(str(file), 5), Frame(str(file), 20)])[0].line == 18
    assert mask_made([]) == ()


DIAGONALS = """\
def ahead(n):
    keep = torch.ones(n, n).tril(
        diagonal=1
    )
    return keep.bool()
def closed(n):
    return ~torch.triu(torch.ones(n, n), 2).bool()
def right(n):
    return torch.triu(torch.ones(n, n), diagonal=1) == 0
class Block:
    def forward(self, x, pad):
        mask = pad & ahead(x.shape[1])
        other = pad & closed(x.shape[1])
        good = pad & right(x.shape[1])
        a = F.scaled_dot_product_attention(x, x, x, attn_mask=mask)
        b = F.scaled_dot_product_attention(x, x, x, attn_mask=other)
        return F.scaled_dot_product_attention(x, x, x, attn_mask=good)
"""


def test_the_line_of_a_diagonal_that_lets_the_next_position_through(tmp_path: Path) -> None:
    file = tmp_path / "block.py"
    file.write_text(DIAGONALS)
    lines = lambda number: [f.line for f in mask_made([Frame(str(file), number)])]  # noqa: E731
    assert lines(15) == [3, 12]
    assert lines(16) == [7, 13]
    assert lines(17) == [14]
