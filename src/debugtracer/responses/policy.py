"""Which responses answer a bad step: by mode, and by the cause that its verdict names; the smallest intrusion first."""

from __future__ import annotations

from dataclasses import dataclass, field

from debugtracer.errors import UsageError
from debugtracer.responses.bad_step import BAD_WEIGHTS, BadStep
from debugtracer.responses.response import responses

# causes that another batch does not take away: the responses that may not answer them, and why
REFUSED = {
    "weights-nonfinite": (("skip-update",), BAD_WEIGHTS),
}


@dataclass(frozen=True)
class Policy:
    """One per run, pure: what is done belongs to the responses."""

    mode: str
    chosen: dict[str, str] = field(default_factory=dict)
    """Cause -> the response that the user wants for it."""

    def allowed(self, cause: str | None = None) -> tuple[str, ...]:
        """The responses to a cause in the order in which they are asked; none in a mode that does not act."""
        known = tuple(slug for slug, response in responses().items() if self.mode in response.modes)
        wanted = self.chosen.get(cause or "")
        if wanted is None:
            return tuple(slug for slug in known if not responses()[slug].chosen_only)
        return tuple(slug for slug in known if slug in (wanted, "stop"))

    def refuses(self, slug: str, bad: BadStep) -> str:
        """Why the cause of a bad step rules a response out, one clause; empty where it does not."""
        slugs, why = REFUSED.get(bad.cause or "", ((), ""))
        return why if slug in slugs else ""


def choices(text: str, mode: str) -> dict[str, str]:
    """What `cause=response,cause=response` asks for. Raises UsageError where a word is not known."""
    from debugtracer.causes.cause import causes

    found: dict[str, str] = {}
    for part in filter(None, (word.strip() for word in text.split(","))):
        cause, sign, response = part.partition("=")
        if not (cause and sign):
            raise UsageError(f"respond {part}: expected CAUSE=RESPONSE, such as data-nonfinite=stop")
        known = [slug for slug, one in responses().items() if mode in one.modes]
        if not known:
            raise UsageError(f"respond {part}: mode {mode} leaves bad steps alone; expected --mode val or prod")
        if cause not in causes():
            raise UsageError(f"respond {part}: there is no cause {cause}; `debug-tracer causes` lists them")
        if response not in known:
            raise UsageError(f"respond {part}: expected one of {', '.join(known)}")
        found[cause] = response
    return found
