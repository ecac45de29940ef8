"""Is what the program sets on its layers what torch reads?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.misspelt_name import MisspeltName
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class AttributeMisspelt(Check, frozen=True):
    """An attribute is set that torch never reads, beside the one that was meant.

    What it catches
        `embedding.weights = nn.Parameter(vectors)` for `.weight`: the layer keeps its random values.
        `p.require_grad = False` for `requires_grad`, and `model.encoder.requires_grad = False`, which says nothing to
        its parameters: what is meant to be frozen is trained. `optimizer.lr = 0.001` for
        `param_groups[0]["lr"]`, and `optimizer.defaults["lr"] = 0.001`.
    Why it matters
        Python takes any name. Nothing fails, and pretrained values are never used, or are overwritten.
    How it decides
        After the first backward the names of attributes are read. A layer of a class of torch holds a tensor under a
        name that is nearly `weight` or `bias`, of the same shape as the one it reads; a parameter has a flag of nearly
        that name with another value; a module has a flag `requires_grad`, its own class has no use for it, and the
        flags of all its parameters say the opposite. At the updates of inspected steps, and at the end, an optimizer
        of torch holds a number under the name of a setting, or of its defaults, that is another than all groups hold
        since they were built. Silent where the program reads such an attribute itself.
    What to do
        `layer.weight`, `parameter.requires_grad = False`, `module.requires_grad_(False)`,
        `for group in optimizer.param_groups: group["lr"] = value`.
    Example
        step 0, rank 0: word_embeddings (Embedding) is given a tensor `weights` (model.py:33), which nothing reads: the
        layer uses `weight`, of the same shape, as it was made; expected `weight`. Rename it.
    """

    needs: ClassVar[tuple[type[MisspeltName]]] = (MisspeltName,)
    kind: ClassVar[str] = "optimizer_params_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    proved_by: ClassVar[str] = "model/weaver_words"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each line."""
        for fact in window.new(MisspeltName):
            if fact.used is not None:
                yield self.setting(window, fact)
            else:
                yield self.tensor(window, fact) if fact.value is None else self.flag(window, fact)

    def tensor(self, window: Window, fact: MisspeltName) -> Finding:
        """A tensor that the layer does not read."""
        return self.finding(
            window,
            "warning",
            f"{fact.path} ({fact.layer}) is given a tensor `{fact.name}`{spot(fact.frame)}, which nothing reads: the "
            f"layer uses `{fact.meant}`, of the same shape, as it was made; expected `{fact.meant}`. Rename it.",
            ref=fact.ref,
            place=Place(frame=fact.frame, param=f"{fact.path}.{fact.name}"),
            kind="bad_init",
            remedies=(f"layer.{fact.meant} = nn.Parameter(values), or nn.Embedding.from_pretrained(values)",),
        )

    def flag(self, window: Window, fact: MisspeltName) -> Finding:
        """A flag that no parameter reads."""
        holder = f"{fact.path}, a parameter," if fact.layer == "Parameter" else f"{fact.path} ({fact.layer})"
        many = f"{fact.parameters} parameters" if fact.parameters > 1 else "1 parameter"
        meant = "trained" if fact.value else "frozen"
        return self.finding(
            window,
            "warning",
            f"{holder} is given `{fact.name} = {fact.value}`{spot(fact.frame)}, which nothing reads: `requires_grad` "
            f"of {many} is {not fact.value}; expected them {meant}. Use `module.requires_grad_({fact.value})`.",
            ref=fact.ref,
            place=Place(frame=fact.frame, param=fact.path if fact.layer == "Parameter" else None),
            remedies=(
                f"module.requires_grad_({fact.value}) sets it for all parameters of a module",
                f"parameter.requires_grad = {fact.value}, with that spelling, for one",
            ),
            parameters=fact.parameters,
        )

    def setting(self, window: Window, fact: MisspeltName) -> Finding:
        """A number that no optimizer reads."""
        given, used = float(fact.given or 0), float(fact.used or 0)
        return self.finding(
            window,
            "warning",
            f"{fact.name} = {given:.3g} is written{spot(fact.frame)}, which {fact.layer} never reads: `{fact.meant}` "
            f"of all its groups is still {used:.3g}; expected {given:.3g}. Write it into param_groups.",
            ref=fact.ref,
            place=Place(frame=fact.frame),
            kind="scheduler_misuse" if fact.meant == "lr" else self.kind,
            remedies=(f'for group in optimizer.param_groups: group["{fact.meant}"] = value',),
            given=given,
            used=used,
        )
