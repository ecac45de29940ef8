"""Root-module calls: global hooks on the outermost module the loop calls, inactive under torch.compile and gone inside
it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from threading import get_ident
from typing import Any

import torch
from torch import nn

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.hook import Switch
from debugtracer.hooks.resting_calls import RestingCalls
from debugtracer.recorder.run_state import OpenRoot

UNSET = object()
# torch's remark on hooks firing twice, which the depth rule takes care of
OPTIMIZED = r"Using `torch\.compile\(module\)` when there are global hooks"
PRE, POST, ALWAYS = "_forward_pre_hooks", "_forward_hooks", "_forward_hooks_always_called"
everywhere = nn.modules.module


class ModuleHook(Switch):
    """Global forward hooks with a depth rule: only the outermost call is reported. While it runs they are off torch's
    list, for one hook there sends every inner call through torch's slow path (docs/rationale/replay.md#inner-modules).
    """

    def __init__(
        self, events: LoopEvents, thread: TrainingThread, open_root: OpenRoot, resting: RestingCalls | None = None
    ) -> None:
        super().__init__()
        self.events, self.thread, self.open_root = events, thread, open_root
        self.resting = resting
        """What sees root calls while all rests; without it these hooks do."""
        self.rests = self.stands_in = False
        """All rests; and our hooks are off torch's list meanwhile."""
        self.calls_rest = False
        """Nobody is to hear of root calls."""
        self.handles: list[Any] = []
        self.numbers = (-1, -1)
        """By which torch knows the two."""
        self.carried: tuple[Any, Any, Any] | None = None
        """The lists of the root whose own hooks stand for ours meanwhile."""
        self.shared = False
        """Another thread calls modules too: torch's list is left alone, it may be walking along it."""
        self.at_begin, self.at_end = Carried(self.entered_again), Carried(self.after)
        open_root.on_reset(self.put_back)

    def install(self) -> None:
        """Register the two global hooks."""
        warnings.filterwarnings("ignore", message=OPTIMIZED)
        self.handles = [
            everywhere.register_module_forward_pre_hook(self.before),
            everywhere.register_module_forward_hook(self.after, with_kwargs=True, always_call=True),
        ]
        self.numbers = self.handles[0].id, self.handles[1].id
        self.rest(self.rests)

    def rest(self, rests: bool) -> None:
        """Let stand-ins on the classes of the roots see their calls, where that is possible, or see them ourselves
        again."""
        self.rests = rests
        if not rests:
            self.rest_calls(False)
        if rests == self.stands_in or self.resting is None or not self.handles:
            return
        if not rests:
            self.stands_in = False
            self.resting.end()
            self.put_back()
        elif self.take_off():
            self.stands_in = self.resting.begin()
            self.put_back()

    def rest_calls(self, rests: bool) -> None:
        """Leave root calls to torch while all rests: neither a stand-in nor a hook of ours sees them."""
        if rests == self.calls_rest or not self.handles or (rests and not self.take_off()):
            return
        self.calls_rest = rests
        if self.stands_in and self.resting is not None:
            self.stands_in = True if rests else self.resting.begin()
            if rests:
                self.resting.end()
        self.put_back()

    def remove(self) -> None:
        self.stands_in = self.calls_rest = False
        if self.resting is not None:
            self.resting.end()
        self.put_back()
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def pause(self) -> None:
        """Let the calls of a replay pass unseen; compiled code finds the list as it was compiled with, empty."""
        super().pause()
        if self.resting is not None:
            self.resting.pause()
        self.take_off()

    def resume(self) -> None:
        """Report again, after a pause()."""
        super().resume()
        if self.resting is not None:
            self.resting.resume()
        if self.open_root.module is None:
            self.put_back()

    def before(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Run before each module; returns None so that no argument is replaced."""
        if self.enter(module, args):
            self.hand_over(module)

    def enter(self, module: nn.Module, args: tuple[Any, ...]) -> bool:
        """Report the outermost call; True when it is one."""
        if torch.compiler.is_compiling() or self.off or torch._C._get_tracing_state() is not None:
            return False
        if self.thread.owner != get_ident() and (
            self.thread.elsewhere() or (torch.is_grad_enabled() and not self.thread.here())
        ):
            self.shared = True
            return False
        call = self.open_root
        if call.module is not None:
            call.nested += module is call.module
            return False
        call.module, call.nested = module, 0
        if self.carried is not None:
            self.put_back()  # the last call failed
        try:
            self.events.entered(module, args)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("hooks.module", error)
        return True

    def after(self, module: nn.Module, args: tuple[Any, ...], kwargs: Any = None, output: Any = UNSET) -> None:
        """Run after each module; after an exception torch calls it without kwargs. Returns None."""
        call = self.open_root
        if torch.compiler.is_compiling() or self.off or module is not call.module:
            return
        if self.thread.owner != get_ident() and self.thread.elsewhere():
            return
        if call.nested:
            call.nested -= 1
            return
        call.module = None
        failed = output is UNSET
        self.put_back(failed)
        try:
            self.events.left(module, {} if failed else kwargs, None if failed else output, failed)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("hooks.module", error)

    def entered_again(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Count a call of the root to itself."""
        if not self.off and module is self.open_root.module and not self.thread.elsewhere():
            self.open_root.nested += 1

    def hand_over(self, module: nn.Module) -> None:
        """Let the root itself tell of its end, under the numbers that torch's list knows our hooks by; not where its
        forward looks at its own hooks, and not where there is nothing inside."""
        own = vars(module)
        if not own.get("_modules") or isinstance(module, nn.TransformerEncoderLayer):
            return
        pre, post, always = own.get(PRE), own.get(POST), own.get(ALWAYS)
        if not (type(pre) is type(post) is type(always) is OrderedDict) or not self.take_off():
            return
        begin, end = self.numbers
        pre[begin], post[end], always[end] = self.at_begin, self.at_end, True
        if len(pre) > 1:
            pre.move_to_end(begin, last=False)
        if len(post) > 1:
            post.move_to_end(end, last=False)
        self.carried = pre, post, always

    def take_off(self) -> bool:
        """Take our hooks off torch's list, where nobody else has one there; True if they are."""
        pre, post = everywhere._global_forward_pre_hooks, everywhere._global_forward_hooks
        if self.shared or not self.handles or len(pre) > 1 or len(post) > 1:
            return False
        begin, end = self.numbers
        pre.pop(begin, None)
        post.pop(end, None)
        return True

    def put_back(self, failed: bool = False) -> None:
        """Put our hooks on torch's list again, first as they were, and off the root; where its call failed torch is
        walking along the hooks after it, and one stays until the next call."""
        if not self.handles:
            return
        begin, end = self.numbers
        if self.carried is not None:
            pre, post, always = self.carried
            pre.pop(begin, None)
            if not failed:
                post.pop(end, None)
                always.pop(end, None)
                self.carried = None
        if self.stands_in or self.calls_rest:
            return
        listed: Any = everywhere._global_forward_pre_hooks  # torch calls its OrderedDicts dicts
        if begin not in listed:
            listed[begin] = self.before
            listed.move_to_end(begin, last=False)
        listed = everywhere._global_forward_hooks
        if end not in listed:
            listed[end] = self.after
            listed.move_to_end(end, last=False)


class Carried:
    """A hook of ours on a module of the program. A copy of the module that is made meanwhile has one that does
    nothing."""

    def __init__(self, told: Any) -> None:
        self.told = told

    def __call__(self, *args: Any) -> None:
        """Hand the call on to us."""
        self.told(*args)

    def __reduce__(self) -> Any:
        return Carried, (ignored,)


def ignored(*args: Any) -> None:
    """Do nothing with a call."""
