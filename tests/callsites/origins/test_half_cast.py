"""The line that made the weights of an optimizer half-precision ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.half_cast import half_cast
from debugtracer.trace.birth import Frame

MADE = "optimizer = AdamW(model.parameters(), lr=1e-3)\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("model = Net().bfloat16()\n", 1),
        ("model = Net()\nmodel.to(torch.bfloat16)\n", 2),
        ("model = Net()\nmodel = model.to('cpu', dtype=torch.float16)\n", 2),
        ("model = AutoModel.from_pretrained('x', torch_dtype=torch.bfloat16)\n", 1),
        ("model = nn.Sequential(\n    nn.Linear(3, 3),\n).half()\n", 3),
        ("model = Net()\nx = torch.zeros(3, dtype=torch.bfloat16)\nx = x.half()\n", None),
        ("model = Net().half()\nmodel.float()\nmodel.bfloat16()\n", None),
        ("model = Net()\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n    model(x)\n", None),
        ("model = Net().to(device)\n", None),
    ],
)
def test_the_only_cast_of_what_the_optimizer_is_given(tmp_path: Path, text: str, line: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(text + MADE)
    found = half_cast((Frame(str(file), len(text.splitlines()) + 1),))
    assert (found.line if found is not None else None) == line


def test_without_a_line_there_is_none() -> None:
    assert half_cast(()) is None
