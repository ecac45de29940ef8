"""What stands before every route: no request passes that does not name this server and carry its token."""

from __future__ import annotations

from urllib.parse import parse_qsl

from debugtracer.server.access import PROOF, Access
from debugtracer.server.answer import Answer, Scope, text_answer

NO_TOKEN = "this page needs the token of its server: open the whole address that `debug-tracer ui` printed."
METHODS = ("GET", "HEAD", "POST")
MOST_QUERY = 4096


def refusal(scope: Scope, access: Access) -> Answer | None:
    """The answer to a request that may not pass; None for one that may."""
    if not access.named(header_values(scope, "host")):
        return text_answer(421, "this server does not answer to that name.")
    if scope["method"] not in METHODS:
        return text_answer(405, "only GET, HEAD and POST are answered.", allow=", ".join(METHODS))
    if scope["method"] == "POST":
        return None if any(map(access.known, header_values(scope, PROOF))) else text_answer(403, NO_TOKEN)
    if access.carried(header_values(scope, "cookie")):
        return None
    if any(map(access.known, query_tokens(scope))):
        # the token leaves the address at once: it is to stand in no history
        return Answer(303, headers={"location": local_path(scope), "set-cookie": access.set_cookie()})
    return text_answer(403, NO_TOKEN)


def header_values(scope: Scope, name: str) -> list[str]:
    """The values of a header, however often it was sent."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name.encode()]


def query_tokens(scope: Scope) -> list[str]:
    """Parse what the address gives as `token`; nothing of a query that cannot be parsed."""
    query = scope["query_string"][:MOST_QUERY].decode("latin-1")
    try:
        return [value for name, value in parse_qsl(query, max_num_fields=20) if name == "token"]
    except ValueError:
        return []


def local_path(scope: Scope) -> str:
    """The path of the address, on this server."""
    path: str = scope.get("raw_path", b"/").split(b"?")[0].decode("latin-1")
    strange = any(ord(c) < 33 or c == "\\" for c in path)
    return "/" if strange or not path.startswith("/") or path.startswith("//") else path
