"""A look at a server before the first walk: whether it is there, which model it runs, how fast the line is."""

from __future__ import annotations

import contextlib
import json
import ssl
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection

from engine.remote import faults
from engine.remote.address import Address
from engine.remote.traffic import Traffic

TIMEOUT_SECONDS = 5.0
MAX_ANSWER_BYTES = 2 * 1024 * 1024
MAX_NAME_CHARACTERS = 100
MODELS, SOME_TEXT = "/v1/models", "/openapi.json"
"""The second is the longest text that such a server has to offer; where it has none, nothing is measured."""


def look(
    address: Address, context: ssl.SSLContext | None, traffic: Traffic, clock: Callable[[], float] = time.monotonic
) -> str | None:
    """The name of the model, or None where the server does not tell; ``traffic`` learns how fast the line is.

    Raises RemoteProblem where no server is there.
    """
    line = _connection(address, context)
    try:
        model = _model_name(_get(line, address.prefix + MODELS, None, clock))
        with contextlib.suppress(HTTPException, ValueError, OSError):  # only the measurement is lost
            _get(line, address.prefix + SOME_TEXT, traffic, clock)
    except ssl.SSLError as error:  # before ValueError, which a bad certificate is too
        raise faults.absent(address, error) from None
    except (HTTPException, ValueError):
        return None  # not every proxy lets these through; the walk itself will show what is there
    except OSError as error:
        raise faults.absent(address, error) from None
    finally:
        line.close()
    return model


def _connection(address: Address, context: ssl.SSLContext | None) -> HTTPConnection:
    if context is None:
        return HTTPConnection(address.host, address.port, timeout=TIMEOUT_SECONDS)
    return HTTPSConnection(address.host, address.port, timeout=TIMEOUT_SECONDS, context=context)


def _get(line: HTTPConnection, path: str, traffic: Traffic | None, clock: Callable[[], float]) -> bytes:
    line.request("GET", path)
    answer = line.getresponse()
    first = answer.read(1)
    began = clock()
    body = first + _rest(answer)
    if traffic is not None and answer.status == 200:
        traffic.crossed(len(body), clock() - began)
    return body if answer.status == 200 else b""


def _rest(answer: HTTPResponse) -> bytes:
    body = answer.read(MAX_ANSWER_BYTES)
    if answer.read(1):
        raise ValueError("an answer longer than any that is looked for")
    return body


def _model_name(body: bytes) -> str | None:
    try:
        found = json.loads(body)
        name = found["data"][0]["id"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    if not isinstance(name, str) or not name.isprintable():
        return None
    return name[:MAX_NAME_CHARACTERS] or None
