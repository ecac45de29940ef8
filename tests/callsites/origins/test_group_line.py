"""The line that sorts parameters into the group with decay."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.origins.group_line import decayed_group_line
from debugtracer.trace.birth import Frame

PROGRAM = """\
import torch
def by_loop(model):
    decayed, spared = [], []
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            spared.append(p)
        else:
            decayed.append(p)
    return [{"params": decayed, "weight_decay": 0.1}, {"params": spared, "weight_decay": 0.0}]
def by_comprehension(model):
    decayed = [p for p in model.parameters() if p.dim() > 0]
    return [
        {"params": decayed, "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() <= 0], "weight_decay": 0.0},
    ]
model = torch.nn.Linear(2, 2)
a = torch.optim.AdamW(by_loop(model), lr=1e-3)
b = torch.optim.AdamW(by_comprehension(model))
groups = [
    {"params": model.parameters(), "weight_decay": 0.1},
    {"params": [], "weight_decay": 0},
]
c = torch.optim.AdamW(groups)
d = torch.optim.AdamW(model.parameters(), weight_decay=0.1)
"""


def test_the_condition_else_the_entry_of_the_group(tmp_path: Path):
    file = tmp_path / "grouped.py"
    file.write_text(PROGRAM)
    lines = PROGRAM.split("\n")

    def found(start: str) -> int | None:
        line = next(i for i, text in enumerate(lines, 1) if text.startswith(start))
        told = decayed_group_line((Frame(str(file), line, "<module>", ""),), "AdamW")
        return None if told is None else told.line

    assert [found(name) for name in ("a =", "b =", "c =", "d =")] == [5, 11, 20, None]
