"""Where a learning rate was written."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from debugtracer.callsites.origins.setting_origin import setting_line
from debugtracer.trace.birth import Frame


def found(tmp_path: Path, text: str, *lines: int, value: float = 0.5) -> int | None:
    """The line of the rate of the call on these lines."""
    file = tmp_path / "train.py"
    file.write_text(text)
    line = setting_line([Frame(str(file), one) for one in lines], "SGD", "lr", 1, value)
    return line.line if line is not None else None


CASES = {
    "on a line of its own": ("opt = SGD(\n    params,\n    lr=0.5,\n)\n", (1,), 3),
    "constant": ("LR = 0.5\nopt = SGD(params, lr=LR)\n", (2,), 1),
    "by place, over two names": ("rate = 5e-1\nlr = rate\nopt = SGD(params, lr)\n", (3,), 1),
    "computed": ("base = 0.1\nlr = base * world\nopt = SGD(params, lr=lr)\n", (3,), 2),
    "argparse": (
        'parser.add_argument("--epochs", default=3)\nparser.add_argument("-l", "--lr", default=0.5)\n'
        "opt = SGD(params, lr=args.lr)\n",
        (3,),
        2,
    ),
    "dest": ('parser.add_argument("--rate", dest="lr", default=0.5)\nopt = SGD(p, lr=args.lr)\n', (2,), 1),
    "dataclass": ("class Config:\n    size: int = 3\n    lr: float = 0.5\nopt = SGD(p, lr=cfg.lr)\n", (4,), 3),
    "dictionary": ('hp = {\n    "size": 3,\n    "lr": 0.5,\n}\nopt = SGD(p, lr=hp["lr"])\n', (5,), 3),
    "namespace": ("args = Namespace(lr=0.5, n=3)\nopt = SGD(p, lr=args.lr)\n", (2,), 1),
    "assigned option": ("cfg.lr = 0.5\nopt = SGD(p, lr=cfg.lr)\n", (2,), 1),
    "computed of an option": (
        'parser.add_argument("--lr", default=0.1)\nargs.lr = args.lr * world\nopt = SGD(p, lr=args.lr)\n',
        (3,),
        2,
    ),
    "an option changed in place": ("cfg.lr *= world\nopt = SGD(p, lr=cfg.lr)\n", (2,), 1),
    "argument": ("def fit(model, lr=1e-3):\n    return SGD(p, lr=lr)\nfit(net, lr=0.5)\n", (2, 3), 3),
    "default": ("def fit(model, lr=0.5):\n    return SGD(p, lr=lr)\nfit(net)\n", (2, 3), 1),
    "default of a constructor": (
        "class Fit:\n    def __init__(self, lr=0.5):\n        self.lr = lr\n    def go(self):\n"
        "        return SGD(p, lr=self.lr)\nFit().go()\n",
        (5, 6),
        2,
    ),
    "argument of a constructor": (
        "class Fit:\n    def __init__(self, lr=0.1):\n        self.lr = lr\n    def go(self):\n"
        "        return SGD(p, lr=self.lr)\nFit(lr=0.5).go()\n",
        (5, 6),
        6,
    ),
}


@pytest.mark.parametrize(("text", "lines", "line"), CASES.values(), ids=CASES)
def test_the_line_that_says_the_number_in_use(tmp_path: Path, text: str, lines: tuple[int, ...], line: int) -> None:
    assert found(tmp_path, text, *lines) == line


@pytest.mark.parametrize(
    "text",
    [
        "opt = SGD(p, lr=0.5)\n",
        "opt = SGD(p, lr=base * 5)\n",
        "opt = SGD(p)\n",
        "LR = 0.1\nLR = read()\nopt = SGD(p, lr=0.5)\n",
        "opt = SGD(p, lr=unknown)\n",
    ],
)
def test_a_rate_in_the_call_itself_or_one_that_cannot_be_followed(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text, text.count("\n")) is None


def test_another_number_than_the_one_in_use_is_not_the_line(tmp_path: Path) -> None:
    """The command line may have given another one than the default."""
    text = 'parser.add_argument("--lr", default=0.1)\nopt = SGD(params, lr=args.lr)\n'
    assert found(tmp_path, text, 2, value=0.5) is None
    assert found(tmp_path, "LR = 0.1\nopt = SGD(params, lr=LR)\n", 2, value=0.5) is None


def test_of_two_options_with_that_number_none_is_guessed(tmp_path: Path) -> None:
    text = 'a = {"lr": 0.5}\nb = {"lr": 0.5}\nopt = SGD(p, lr=b["lr"])\n'
    assert found(tmp_path, text, 3) is None


def test_a_constant_of_another_file_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "hyper.py"
    config.write_text("SIZE = 3\nLR = 0.5\n")
    module = ModuleType("hyper_of_test")
    module.__file__ = str(config)
    monkeypatch.setitem(sys.modules, "hyper_of_test", module)
    for text in (
        "from hyper_of_test import LR\nopt = SGD(p, lr=LR)\n",
        "import hyper_of_test as h\nopt = SGD(p, lr=h.LR)\n",
    ):
        (tmp_path / "main.py").write_text(text)
        line = setting_line([Frame(str(tmp_path / "main.py"), 2)], "SGD", "lr", 1, 0.5)
        assert line is not None
        assert (line.file, line.line) == (str(config), 2)


def test_an_option_of_a_class_that_a_package_hands_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "options_of_test"
    package.mkdir()
    for name, text in (("__init__.py", "from .hyper import *\n"), ("hyper.py", "class Config:\n    lr = 0.5\n")):
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("options_of_test")
    (tmp_path / "main.py").write_text("from options_of_test import Config\nc = Config()\nopt = SGD(p, lr=c.lr)\n")
    line = setting_line([Frame(str(tmp_path / "main.py"), 3)], "SGD", "lr", 1, 0.5)
    for name in ("options_of_test.hyper", "options_of_test"):
        sys.modules.pop(name)
    assert line is not None
    assert (line.file, line.line) == (str(package / "hyper.py"), 2)
