"""A Hugging Face hub on the loopback interface: the answers that fetching a model needs, from files in memory."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REVISION = "5" * 40


class Hub:
    """``repos``: repository -> path -> bytes. Behaviour that tests change while it runs stands in the other fields."""

    def __init__(self, repos: dict[str, dict[str, bytes]]) -> None:
        self.repos = repos
        self.endpoint = ""
        self.ranges: list[tuple[str, str | None]] = []
        self.asked: list[str] = []
        self.cut_after: int | None = None
        self.gated = False
        self.wrong: set[str] = set()
        self.longer: set[str] = set()

    def info(self, repo: str) -> dict[str, object]:
        """As ``/api/models/REPO?blobs=true`` tells it: weights are large files with SHA-256, the rest git blobs."""
        siblings = []
        for path, content in self.repos[repo].items():
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            sibling: dict[str, object] = {"rfilename": path, "size": len(content), "blobId": blob}
            if path.endswith(".safetensors"):
                digest = hashlib.sha256(content).hexdigest()
                sibling["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 134}
            siblings.append(sibling)
        return {"id": repo, "sha": REVISION, "siblings": siblings, "private": False, "tags": [], "downloads": 0}


@contextmanager
def serving(repos: dict[str, dict[str, bytes]]) -> Iterator[Hub]:
    """A hub that answers at ``endpoint`` until the block ends."""
    hub = Hub(repos)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            hub.asked.append(path)
            if hub.gated:
                self._answer(403, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."})
            elif path.startswith("/api/models/") and path.removeprefix("/api/models/") in hub.repos:
                content = json.dumps(hub.info(path.removeprefix("/api/models/"))).encode()
                self._answer(200, content, {"Content-Type": "application/json"})
            elif f"/resolve/{REVISION}/" in path:
                repo, _, name = path[1:].partition(f"/resolve/{REVISION}/")
                self._file(name, hub.repos[repo][name])
            else:
                self._answer(404, b"", {"X-Error-Code": "RepoNotFound"})

        def _file(self, name: str, content: bytes) -> None:
            asked = self.headers.get("Range")
            hub.ranges.append((name, asked))
            start = 0 if asked is None else int(asked.removeprefix("bytes=").partition("-")[0])
            body = bytes(len(content)) if name in hub.wrong else content + b"!" * (name in hub.longer)
            span = {} if asked is None else {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
            cut, hub.cut_after = hub.cut_after, None
            self._answer(200 if asked is None else 206, body[start:], span, cut)

        def _answer(self, status: int, body: bytes, headers: dict[str, str], cut: int | None = None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if cut is None else body[:cut])
            if cut is not None:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
