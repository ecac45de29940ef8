"""Tracebacks as Python and IPython print them."""

from __future__ import annotations

import pytest

from debugtracer.logs.exceptions import LIBRARY, Raised, Tracebacks


def raised(text: str) -> list[Raised]:
    read = Tracebacks()
    for number, line in enumerate(text.split("\n"), 1):
        read.feed(number, line)
    read.close(number)
    return read.done


def test_the_users_line_is_the_innermost_that_is_no_librarys():
    text = """Traceback (most recent call last):
  File "/home/a/train.py", line 30, in <module>
    main()
    ~~~~^^
  File "/home/a/model.py", line 9, in forward
    return self.fc(x)
  File "/home/a/.venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2"""
    (one,) = raised(text)
    assert (one.error, one.message, one.end) == ("RuntimeError", "mat1 and mat2", 9)
    assert one.place is not None
    assert one.script is not None
    assert (one.place.line, one.place.function, one.place.code, one.script.line) == (
        9,
        "forward",
        "return self.fc(x)",
        30,
    )


def test_an_ipython_traceback_has_its_line_at_the_arrow():
    text = """---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
<ipython-input-1-e19a41c0004b> in train_model(model)
     45 
---> 46     prediction = model.forward(image.float())
     47 
~/project/model.py in forward(self, x)
     16         x = torch.squeeze(x, dim=0)
---> 17         f = self.features(x)
RuntimeError: shapes"""
    (one,) = raised(text)
    assert one.place is not None
    assert (one.place.file, one.place.line, one.place.code) == ("~/project/model.py", 17, "f = self.features(x)")


def test_the_forward_call_of_anomaly_mode_is_kept_by_its_node():
    read = Tracebacks()
    text = """x.py:1: UserWarning: Error detected in LogBackward0. Traceback of forward call that caused the error:
  File "/home/a/train.py", line 3, in <module>
    y = torch.log(p)
 (Triggered internally at python_anomaly_mode.cpp:122.)"""
    for number, line in enumerate(text.split("\n"), 1):
        read.feed(number, line)
    assert read.forwards["LogBackward0"].frames[0].code == "y = torch.log(p)"


def test_a_traceback_that_never_ends_is_given_up():
    assert (
        raised('Traceback (most recent call last):\n  File "a.py", line 1, in f\n' + "loss 0.1\n" * 600)[0].error == ""
    )


@pytest.mark.parametrize(
    ("file", "library"),
    [
        ("/usr/lib/python3.10/threading.py", True),
        ("C:\\Python311\\Lib\\site-packages\\torch\\x.py", True),
        ("<frozen runpy>", True),
        ("/home/torch/train.py", False),
        ("/home/a/lib/model.py", False),
    ],
)
def test_what_is_a_library(file, library):
    assert bool(LIBRARY.search(file)) is library
