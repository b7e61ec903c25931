"""Where a server is: ``ws://HOST:PORT`` taken apart, and how its certificate is checked."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from engine.errors import BadValue, FileProblem
from engine.wording import shown

ENDPOINT = "/v1/realtime_video/generate"
MAX_URL_CHARACTERS = 2048
_EXPECTED = "an address such as ws://gpu-box:30000, or wss://... through TLS"


@dataclass(frozen=True, slots=True)
class Address:
    """A server's address. ``prefix`` is the path before the endpoint, for servers that share one address."""

    secure: bool
    host: str
    port: int
    prefix: str

    @property
    def url(self) -> str:
        """Where the walk goes."""
        return f"{self.shown}{ENDPOINT}"

    @property
    def shown(self) -> str:
        """As a user would write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.secure else 'ws'}://{host}:{self.port}{self.prefix}"


def parse_address(text: str | None, where: str) -> Address:
    """The address that a user gave at ``where``. Raises BadValue; names and passwords in it are refused."""
    if text is None:
        raise BadValue(where, "nothing", _EXPECTED, "Give it: --server ws://HOST:30000")
    if len(text) > MAX_URL_CHARACTERS or not text.isprintable() or " " in text:
        raise BadValue(where, shown(text), _EXPECTED)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise BadValue(where, shown(text), _EXPECTED) from None
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.query or parts.fragment:
        raise BadValue(where, shown(text), _EXPECTED)
    if parts.username is not None or parts.password is not None:
        raise BadValue(where, "an address with a name or password", _EXPECTED, "The server knows no log-in.")
    secure = parts.scheme == "wss"
    prefix = parts.path.rstrip("/").removesuffix(ENDPOINT)
    return Address(secure, parts.hostname, port or (443 if secure else 80), prefix)


def tls_context(address: Address, ca_file: str | None, where: str) -> ssl.SSLContext | None:
    """How a ``wss`` server proves who it is: certificate and host name are always checked; None for ``ws``.

    Raises FileProblem where ``ca_file`` cannot be used.
    """
    if not address.secure:
        return None
    context = ssl.create_default_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=str(Path(ca_file).expanduser()))
        except (OSError, ssl.SSLError) as error:
            reason = error.strerror or "it holds no certificate in PEM form"
            cure = f"Point {where} at the PEM file of the authority."
            raise FileProblem(ca_file, f"cannot be used ({reason})", cure) from None
    return context
