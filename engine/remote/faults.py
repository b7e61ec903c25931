"""Everything that can go wrong with a server, as one sentence of what happened and one of the cure."""

from __future__ import annotations

import socket
import ssl

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, WebSocketException

from engine.errors import RemoteProblem
from engine.remote.address import Address
from engine.remote.wire import SizeProblem, WireProblem

AGAIN = "Press R to go on from the last picture."
BUSY_WORDS, INIT_WORDS, LOOP_WORDS = "another realtime session", "invalid generate request", "error during generate"
BUSY_CODE, TOO_BIG_CODE, INTERNAL_CODE = 1008, 1009, 1011
_START = "Start it there (see docs/cluster.md), or correct --server."


class Busy(RemoteProblem):
    """Another session runs on the server, perhaps one of ours that it has not let go of yet."""


def absent(address: Address, error: OSError) -> RemoteProblem:
    """No connection came about."""
    at = address.shown
    if isinstance(error, ssl.SSLCertVerificationError):
        cure = "Set engine.remote.ca_file to the PEM file of the authority that signed it, or correct --server."
        return RemoteProblem(f"The certificate of {at} is not to be trusted ({error.verify_message}).", cure)
    if isinstance(error, ssl.SSLError):
        cure = "Use ws:// if the server does not speak TLS, or correct --server."
        return RemoteProblem(f"No TLS connection to {at} came about ({error.reason or 'handshake failed'}).", cure)
    if isinstance(error, socket.gaierror):
        return RemoteProblem(f"There is no computer of the name {address.host}.", "Correct --server.")
    if isinstance(error, TimeoutError):
        return RemoteProblem(f"No server answers at {at} in time.", _START)
    reason = error.strerror or type(error).__name__
    return RemoteProblem(f"No server answers at {at} ({reason}).", _START)


def refused(address: Address, error: InvalidHandshake | WebSocketException) -> RemoteProblem:
    """Something answered, but it would not open a session."""
    answer = f"HTTP {error.response.status_code}" if isinstance(error, InvalidStatus) else "no WebSocket answer"
    what = f"What answers at {address.shown} is no SGLang realtime server ({answer})."
    return RemoteProblem(what, "Correct --server, or start the server with a realtime model (see docs/cluster.md).")


def said(address: Address, content: str) -> RemoteProblem | None:
    """What an error message of the server means; None where the session goes on in spite of it."""
    if BUSY_WORDS in content:
        return busy(address)
    if INIT_WORDS in content:
        cure = "Look into the server's log; engine.remote.width_px and height_px must fit its model."
        return RemoteProblem(f"The server at {address.shown} refused to begin this world ({content}).", cure)
    if LOOP_WORDS in content:
        return RemoteProblem(f"The server at {address.shown} stopped generating ({content}).", AGAIN)
    return None


def busy(address: Address) -> Busy:
    what = f"The server at {address.shown} is busy: it serves one walk at a time."
    return Busy(what, "Wait for the other walk to end and press R, or use another server.")


def closed(address: Address, error: ConnectionClosed, inside_a_chunk: bool) -> RemoteProblem:
    """The connection came to its end."""
    received, sent = error.rcvd, error.sent
    if sent is not None and sent.code == TOO_BIG_CODE and received is None:
        return nonsense(address, WireProblem("a message", "longer than any can be", "the frames that were asked for"))
    if sent is not None and sent.code == INTERNAL_CODE and received is None:
        return RemoteProblem(f"The line to {address.shown} is dead: no sign of life came any more.", AGAIN)
    if received is not None and received.code == BUSY_CODE:
        return busy(address)
    if received is not None and received.code == 1000:
        reason = received.reason or "no reason given"
        return RemoteProblem(f"The server at {address.shown} ended the walk ({reason[:120]}).", AGAIN)
    when = " in the middle of a chunk" if inside_a_chunk else ""
    code = "" if received is None else f" (code {received.code})"
    return RemoteProblem(f"The server at {address.shown} broke off{when}{code}.", AGAIN)


def silent(address: Address, seconds: float) -> RemoteProblem:
    what = f"The server at {address.shown} is there, but has sent no picture for {seconds:g} seconds."
    return RemoteProblem(what, f"{AGAIN} For a slow server raise engine.remote.patience_seconds.")


def nonsense(address: Address, error: WireProblem) -> RemoteProblem:
    """The server broke the protocol."""
    if isinstance(error, SizeProblem):
        width, _, height = error.got.partition("x")
        what = f"The server at {address.shown} sends pictures of {error.got}, {error.expected} were asked for."
        cure = f"Set engine.remote.width_px={width} and height_px={height}, or start it for the size asked for."
        return RemoteProblem(what, cure)
    what = f"The server at {address.shown} does not keep to the protocol: {error}."
    return RemoteProblem(what, f"{AGAIN} If it happens again, the server is of a version that is not known here.")


def too_many_errors(address: Address, content: str) -> RemoteProblem:
    return RemoteProblem(f"The server at {address.shown} refuses whatever it is told ({content}).", AGAIN)
