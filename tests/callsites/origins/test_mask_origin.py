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
