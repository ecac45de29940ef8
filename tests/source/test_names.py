"""What names mean."""

from __future__ import annotations

import ast

import pytest

from debugtracer.source.names import dotted
from tests.source.reading import read


def called(text):
    source = read(text, head="")
    return source.names, next(node for node in source.program.nodes if isinstance(node, ast.Call))


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("import torch\ntorch.log(x)", "log"),
        ("import torch as th\nth.log(x)", "log"),
        ("import torch.nn.functional as F\nF.softmax(x)", "softmax"),
        ("from torch.nn import functional\nfunctional.softmax(x)", "softmax"),
        ("from torch import nn\nnn.functional.softmax(x)", "softmax"),
        ("from torch import log as ln\nln(x)", "log"),
        ("import torch\ntorch.linalg.norm(x)", "norm"),
        ("import torch\ntorch.nn.ReLU()", None),
        ("import numpy as np\nnp.log(x)", None),
        ("log(x)", None),
    ],
)
def test_a_function_of_torch_by_any_import(text, function):
    names, call = called(text)
    assert names.torch_function(call.func) == function


def test_a_layer_and_a_dotted_name():
    names, call = called("import torch.nn as nn\nnn.Linear(2, 3)")
    assert names.layer(call.func) == "Linear" and names.torch
    assert (
        dotted(ast.parse("self.a.b", mode="eval").body) == "self.a.b"
        and dotted(ast.parse("f().b", mode="eval").body) is None
    )


def test_a_file_without_torch_says_so():
    assert not called("import numpy as np\nnp.log(x)")[0].torch
    assert called("import lightning as L\nL.Trainer()")[0].torch
