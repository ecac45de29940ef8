"""Changes one argument of a call: the learning rate, an eps, shuffle, drop_last and the like."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.option_lines import literal
from debugtracer.causes.rewrite.line import Line, NotUnderstood, keyword, word

ADAMS = ("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop")
OPTIMIZERS = (*ADAMS, "SGD", "ASGD", "Rprop", "LBFGS", "Adafactor", "Muon")
NORMS = ("LayerNorm", "GroupNorm", "RMSNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d",
         "InstanceNorm2d", "InstanceNorm3d",
         "layer_norm", "group_norm", "rms_norm", "batch_norm", "instance_norm", "normalize",
         "cosine_similarity")  # fmt: skip
CRITERIA = ("CrossEntropyLoss", "cross_entropy")
REDUCED = (*CRITERIA, "NLLLoss", "nll_loss", "MSELoss", "mse_loss", "L1Loss", "l1_loss", "BCELoss", "BCEWithLogitsLoss",
           "binary_cross_entropy", "binary_cross_entropy_with_logits", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss",
           "huber_loss")  # fmt: skip
WORDS = {
    "shuffle": (("DataLoader",), "shuffle", "True"),
    "drop-last": (("DataLoader",), "drop_last", "True"),
    "zero-infinity": (("CTCLoss", "ctc_loss"), "zero_infinity", "True"),
    "no-label-smoothing": (CRITERIA, "label_smoothing", "0.0"),
    "mean-reduction": (REDUCED, "reduction", '"mean"'),
    "find-unused": (("DistributedDataParallel", "DDP"), "find_unused_parameters", "True"),
    "strict-load": (("load_state_dict",), "strict", "True"),
    "population-spread": (("std", "var", "std_mean", "var_mean"), "correction", "0"),
}
"""Edit: whose calls, which keyword, its value as source text."""
ONLY_IF_GIVEN = ("no-label-smoothing", "mean-reduction", "strict-load")
STANDS_FOR = {"correction": "unbiased"}


def set_word(line: Line, edit: str) -> tuple[str, ...]:
    """Set one keyword of the only such call to the value that the edit is about."""
    names, name, value = WORDS[edit]
    call = line.call(*names)
    given = keyword(call, name)
    if (given is None and edit in ONLY_IF_GIVEN) or (given is not None and line.text(given) == value):
        raise NotUnderstood(f"{name} of {word(call)} is not the trouble")
    if keyword(call, STANDS_FOR.get(name, "")) is not None or (
        edit == "shuffle" and (keyword(call, "sampler") or keyword(call, "batch_sampler"))
    ):
        raise NotUnderstood(f"{word(call)} has an argument that excludes {name}")
    return given_as(line, call, name, value)


def given_as(line: Line, call: ast.Call, name: str, value: str) -> tuple[str, ...]:
    """The call with that keyword: changed where it is given, added at its end where not."""
    given = keyword(call, name)
    if given is not None:
        return line.replaced({given: value})
    if any(k.arg is None for k in call.keywords):
        raise NotUnderstood(f"{word(call)} takes **keywords that may hold {name}")
    inside = line.text(call)[:-1].rstrip().rstrip(",")
    return line.replaced({call: f"{inside}{'' if inside.endswith('(') else ', '}{name}={value})"})


def larger_eps(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """The eps of an optimizer of the Adam family, or of a normalisation, that the dtype can hold."""
    call = line.call(*ADAMS, *NORMS)
    default = 1e-4 if dtype == "float16" or word(call) in ADAMS else 1e-5
    return given_as(line, call, "eps", f"{value if value is not None else default:g}")


def lower_lr(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """The learning rate of an optimizer's constructor, of OneCycleLR, or written into a parameter group; `value` is
    what it is divided by, 10 without one."""
    rate = rate_of(line)
    return line.replaced({rate: lowered(line, rate, value)})


def rate_of(line: Line) -> ast.expr:
    """Where the line says the learning rate."""
    statement = line.statement
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == "lr":
            return statement.value
    said = setting_of(statement)
    if said is not None:
        return said
    call = line.call(*OPTIMIZERS, "OneCycleLR")
    given = keyword(call, "max_lr" if word(call) == "OneCycleLR" else "lr")
    if given is not None:
        return given
    if len(call.args) > 1:
        return call.args[1]
    raise NotUnderstood(f"{word(call)} leaves lr at its default")


def setting_of(statement: ast.stmt) -> ast.expr | None:
    """The number of a constant or an option that is called a rate: `learning_rate = 0.5`, `lr: float = 0.5`,
    `add_argument("--lr", default=0.5)`."""
    if (
        isinstance(statement, (ast.Assign, ast.AnnAssign))
        and statement.value is not None
        and literal(statement.value) is not None
    ):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        return statement.value if names_rate(ast.unparse(target)) else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and word(call) == "add_argument":
        default = keyword(call, "default")
        if default is not None and literal(default) is not None and any(names_rate(ast.unparse(a)) for a in call.args):
            return default
    return None


def names_rate(text: str) -> bool:
    """True for a name of the learning rate."""
    words = text.lower().replace("-", "_").strip("'\"").split(".")[-1].strip("_").split("_")
    return "lr" in words or "rate" in words


def lowered(line: Line, rate: ast.expr, value: float | None) -> str:
    """A literal rate as a number, any other over the divisor."""
    by = value if value is not None else 10.0
    if isinstance(rate, ast.Constant) and isinstance(rate.value, (int, float)):
        return f"{rate.value / by:g}"
    text = line.text(rate)
    return (
        f"{text} / {by:g}"
        if isinstance(rate, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        else f"({text}) / {by:g}"
    )


def lower_beta2(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """A second moment of Adam that forgets sooner: betas=(0.9, 0.95)."""
    call = line.call("Adam", "AdamW", "NAdam", "RAdam")
    given = keyword(call, "betas")
    first = line.text(given.elts[0]) if isinstance(given, ast.Tuple) and given.elts else "0.9"
    if given is not None and not isinstance(given, ast.Tuple):
        raise NotUnderstood("betas is not written out here")
    return given_as(line, call, "betas", f"({first}, {value if value is not None else 0.95:g})")


def in_place_off(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """Replace `inplace=True` by `inplace=False` everywhere in the line."""
    given = [
        node
        for node in (keyword(call, "inplace") for call in ast.walk(line.statement) if isinstance(call, ast.Call))
        if node is not None
    ]
    if not given:
        raise NotUnderstood("no inplace= here")
    return line.replaced(dict.fromkeys(given, "False"))
