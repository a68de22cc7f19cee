"""Who may talk to the studio.

On loopback every program of this machine may, but no web page: a page that the user visits could send requests here, or
have its own name point here (DNS rebinding), so names other than those of this machine and foreign origins are refused.
On any other address a random token is needed as well.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
COOKIE = "crumple_studio"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Guard:
    """Decides about requests; `token` "" when none is needed."""

    token: str = ""

    @classmethod
    def for_host(cls, host: str) -> Guard:
        """With a new random token unless `host` is loopback."""
        return cls("" if is_loopback(host) else secrets.token_urlsafe(24))

    def refusal(self, request: web.Request) -> str:
        """Why a request is refused; "" when it may pass."""
        name = _host_name(request.host)
        if name is None or not (self.token or is_loopback(name)):
            return "this name is not one of this machine; open the address that crumple view printed"
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            return "requests of other web pages are refused"
        if request.path != "/" and request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            return "requests of other web pages are refused"
        if self.token and not self._has_token(request):
            return "the token is missing or wrong; open the address that crumple view printed"
        return ""

    def _has_token(self, request: web.Request) -> bool:
        """Whether the request has the token in its cookie, its Authorization header or its query."""
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        given = (request.cookies.get(COOKIE, ""), bearer, request.query.get("token", ""))
        return any(hmac.compare_digest(one.encode(), self.token.encode()) for one in given)

    def middleware(self) -> Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]:
        """For aiohttp: refuses, and adds the headers that keep the page to itself."""

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                reason = self.refusal(request)
            except ValueError:  # no address, or bytes that are no text
                return web.Response(status=400, text="a header of this request makes no sense", headers=HEADERS)
            if reason:
                return web.Response(status=403, text=reason, headers=HEADERS)
            response = await handler(request)
            if not response.prepared:
                response.headers.update(HEADERS)
                if self.token and "token" in request.query:
                    response.set_cookie(COOKIE, self.token, httponly=True, samesite="Strict")
            return response

        return guarded


def _host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None when it makes no sense."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None
