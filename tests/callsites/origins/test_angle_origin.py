"""Where an angle was written that is larger than a full turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.angle_origin import angle_origin
from debugtracer.callsites.origins.value_origin import program_of

HEAD = "class Head:\n    def __init__(self, m=0.5):\n        self.c = math.cos(m)\n"
FUNCTION = "def spread(x, angle):\n    return x * torch.cos(torch.tensor(angle))\n"
CASES = {
    "a constant": ("M, S = 28.6, 30.0\nclass Head:\n    def forward(self, x):\n        return x * math.cos(M)\n", 1),
    "in the call": ("class Head:\n    def forward(self, x):\n        return x * math.sin(45)\n", 3),
    "an argument of the class": (f"{HEAD}head = Head(m=20)\n", 4),
    "a default": ("class Head:\n    def __init__(self, m=28.6):\n        self.c = math.cos(math.pi - m)\nHead()\n", 2),
    "kept first": (
        "class Head:\n    def __init__(self, m):\n        self.m = m\n    def forward(self, x):\n"
        "        return x * torch.sin(self.m + 0.1)\nHead(28.6)\n",
        6,
    ),
    "an option": (
        f'parser.add_argument("--margin", default=28.6)\nargs = parser.parse_args()\n{HEAD}head = Head(args.margin)\n',
        1,
    ),
    "a field": (f"class Config:\n    margin = 28.6\nopt = Config()\n{HEAD}head = Head(opt.margin)\n", 2),
    "a default that is not taken": (
        "class Head:\n    def __init__(self, m=28.6):\n        self.c = math.cos(m)\nhead = Head(0.5)\n",
        None,
    ),
    "made radians where it is given": (f"{HEAD}head = Head(math.radians(28.6))\n", None),
    "made radians where it is kept": (f"M = math.radians(28.6)\n{HEAD}head = Head(M)\n", None),
    "made radians by a product": (f"M = 28.6 * math.pi / 180\n{HEAD}head = Head(M)\n", None),
    "made radians in the call": (
        "class Head:\n    def __init__(self, m):\n        self.c = math.cos(math.radians(m))\nhead = Head(28.6)\n",
        None,
    ),
    "in radians": (f"{HEAD}head = Head(0.4)\nepochs = 30\n", None),
    "no angle": ("class Head:\n    def forward(self, x):\n        return x - 28.6\n", None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_number_of_an_angle_in_degrees_is_named(tmp_path: Path, case: str) -> None:
    text, wanted = CASES[case]
    file = tmp_path / "head.py"
    file.write_text(text)
    program = program_of(str(file))
    assert program is not None
    found = angle_origin(program, program.classes["Head"])
    assert (found.frame.line if found is not None else None) == wanted


def test_an_angle_of_a_function_is_followed_to_its_call(tmp_path: Path) -> None:
    file = tmp_path / "margin.py"
    file.write_text(f"{FUNCTION}scores = spread(cosine, 28.6)\n")
    program = program_of(str(file))
    assert program is not None
    found = angle_origin(program, program.functions["spread"])
    assert found is not None and (found.frame.line, found.value, found.function) == (3, 28.6, "cos")
