"""Fetching over HTTP from a hub on the loopback interface, with the hub's own library."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import catalogue
from engine.catalogue import CC_BY_NC_SA, RECORD, Part, Published
from engine.errors import FileProblem, NeedsHardware, NeedsLibrary, RemoteProblem, WeightsProblem
from engine.lingbot import download
from engine.lingbot.checking import check
from engine.lingbot.config import Family, config_of
from engine.lingbot.layouts import find
from tests.hub_server import REVISION, Hub, serving
from tests.lingbot_checkpoints import write

pytest.importorskip("huggingface_hub", reason="the extra 'lingbot' is not installed")

WEIGHTS, SMALL = b"w" * 200_000, b'{"a": 1}'
REPO, OTHER = "robbyant/one", "robbyant/other"
MODEL = Published(
    "v2-1.3b",
    "Tiny",
    (Part(REPO, ("model*.safetensors", "*.json")), Part(OTHER, ("vae/*.safetensors",))),
    400_000,
    CC_BY_NC_SA,
)


def silent(stage: str, fraction: float | None) -> None:
    pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    monkeypatch.setenv("HF_TOKEN", "none")
    files = {"model.safetensors": WEIGHTS, "config.json": SMALL, "pickle.bin": b"\x80", "README.md": b"-"}
    with serving({REPO: files, OTHER: {"vae/v.safetensors": b"v" * 1000, "transformer/t.safetensors": b"t"}}) as hub:
        yield hub


def test_what_is_wanted_is_fetched_and_recorded(tmp_path: Path, hub: Hub) -> None:
    told: list[str] = []
    folder = download.get(MODEL, tmp_path / "m", lambda text, _: told.append(text), hub.endpoint)
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == {"model.safetensors", "config.json", "vae/v.safetensors", RECORD}
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    record = json.loads((folder / RECORD).read_text("utf-8"))
    assert (record["family"], record["licence"]) == ("v2-1.3b", "CC BY-NC-SA 4.0")
    assert {file["revision"] for file in record["files"]} == {REVISION}
    assert told[-1] == "Fetching Tiny: 201 kB of 201 kB"
    assert download.verify(folder, silent, hashes=True) == []


def test_nothing_is_fetched_twice(tmp_path: Path, hub: Hub) -> None:
    download.get(MODEL, tmp_path, silent, hub.endpoint)
    hub.ranges.clear()
    download.get(MODEL, tmp_path, silent, hub.endpoint)
    (tmp_path / RECORD).unlink()  # then whole files are known by their hashes
    download.get(MODEL, tmp_path, silent, hub.endpoint)
    assert hub.ranges == []
    assert (tmp_path / RECORD).is_file()


def test_a_broken_connection_goes_on_where_it_broke(tmp_path: Path, hub: Hub) -> None:
    hub.cut_after = 5
    download.get(MODEL, tmp_path, silent, hub.endpoint)
    assert hub.ranges[0] == ("model.safetensors", None)
    assert len([name for name, _ in hub.ranges if name == "model.safetensors"]) == 2
    assert (tmp_path / "model.safetensors").read_bytes() == WEIGHTS


def left_behind(folder: Path, content: bytes) -> Path:
    """What a fetch that was ended leaves: the first bytes of a file under the hash of its whole."""
    part = folder / ".parts" / hashlib.sha256(WEIGHTS).hexdigest()
    part.parent.mkdir()
    part.write_bytes(content)
    return part


def test_an_interrupted_fetch_is_continued_by_the_next(tmp_path: Path, hub: Hub) -> None:
    left_behind(tmp_path, WEIGHTS[:150_000])
    told: list[str] = []
    download.get(MODEL, tmp_path, lambda text, _: told.append(text), hub.endpoint)
    assert ("model.safetensors", "bytes=150000-") in hub.ranges
    assert (tmp_path / "model.safetensors").read_bytes() == WEIGHTS
    assert not (tmp_path / ".parts").exists()
    assert told[-1] == "Fetching Tiny: 201 kB of 201 kB"


def test_a_damaged_part_is_found_by_its_hash_and_fetched_anew(tmp_path: Path, hub: Hub) -> None:
    part = left_behind(tmp_path, b"x" * 100)
    with pytest.raises(FileProblem, match="its hash differs"):
        download.get(MODEL, tmp_path, silent, hub.endpoint)
    assert not part.exists()
    download.get(MODEL, tmp_path, silent, hub.endpoint)
    assert download.verify(tmp_path, silent, hashes=True) == []


def test_a_hub_that_sends_something_else_is_not_believed(tmp_path: Path, hub: Hub) -> None:
    hub.wrong.add("config.json")
    with pytest.raises(FileProblem, match=r"'config\.json' is not what robbyant/one says"):
        download.get(MODEL, tmp_path, silent, hub.endpoint)
    assert not (tmp_path / "config.json").exists()
    assert not (tmp_path / RECORD).exists()


def test_a_full_disk_is_told_before_anything_is_fetched(
    tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage._replace(free=1_000_100_000))
    with pytest.raises(NeedsHardware, match=r"201 kB are to be fetched and 1\.00 GB are free.*--to"):
        download.get(MODEL, tmp_path / "new" / "deep", silent, hub.endpoint)
    assert hub.ranges == []
    assert not (tmp_path / "new").exists()


def test_a_locked_repository_says_how_to_be_let_in(tmp_path: Path, hub: Hub) -> None:
    hub.gated = True
    with pytest.raises(RemoteProblem, match=r"Accept its terms at https://huggingface\.co/robbyant/one.*hf auth login"):
        download.get(MODEL, tmp_path, silent, hub.endpoint)


def test_a_repository_that_is_not_there_and_one_without_the_files_are_told(tmp_path: Path, hub: Hub) -> None:
    with pytest.raises(RemoteProblem, match="does not have it"):
        download.get(replace(MODEL, parts=(Part("robbyant/none", ("*",)),)), tmp_path, silent, hub.endpoint)
    with pytest.raises(RemoteProblem, match="none of the files"):
        download.get(replace(MODEL, parts=(Part(REPO, ("*.gguf",)),)), tmp_path, silent, hub.endpoint)


def test_names_that_leave_the_folder_are_refused(tmp_path: Path, hub: Hub) -> None:
    hub.repos[REPO]["../evil.json"] = b"{}"
    with pytest.raises(RemoteProblem, match="a bad name for"):
        download.get(MODEL, tmp_path, silent, hub.endpoint)


def test_a_file_of_another_size_than_was_said_is_the_hubs_problem(tmp_path: Path, hub: Hub) -> None:
    hub.longer.add("model.safetensors")
    with pytest.raises(RemoteProblem, match="another size than it had said"):
        download.get(MODEL, tmp_path, silent, hub.endpoint)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileProblem, match="cannot be written"):
        download.get(MODEL, tmp_path / "file", silent, hub.endpoint)


def test_no_answer_is_one_sentence(tmp_path: Path, hub: Hub) -> None:
    with pytest.raises(RemoteProblem, match=r"cannot be reached \(ConnectError\)"):
        download.get(MODEL, tmp_path, silent, "http://127.0.0.1:1")


def test_without_the_library_the_cure_is_said(tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(NeedsLibrary, match=r'pip install -e "\.\[lingbot\]"'):
        download.get(MODEL, tmp_path, silent, hub.endpoint)


def test_what_was_altered_since_is_told(tmp_path: Path, hub: Hub) -> None:
    download.get(MODEL, tmp_path, silent, hub.endpoint)
    (tmp_path / "vae" / "v.safetensors").unlink()
    (tmp_path / "config.json").write_bytes(b"{}")
    (tmp_path / "model.safetensors").write_bytes(WEIGHTS[:-1] + b"x")
    assert len(download.verify(tmp_path, silent, hashes=False)) == 2
    assert "model.safetensors is damaged: its hash differs from the hub's" in download.verify(
        tmp_path, silent, hashes=True
    )
    (tmp_path / RECORD).write_text("[]")
    with pytest.raises(FileProblem, match="Delete this file"):
        download.verify(tmp_path, silent, hashes=False)


def test_a_fetched_checkpoint_knows_its_family_and_is_checked(tmp_path: Path) -> None:
    made = write(tmp_path / "made", "v1-fast")
    files = {str(p.relative_to(made.path)): p.read_bytes() for p in made.path.rglob("*") if p.is_file()}
    published = catalogue.published("v1-fast")
    with serving({published.parts[0].repo: files}) as hub:
        folder = download.get(published, tmp_path / "got", silent, hub.endpoint)
    assert config_of(find(folder)).family is Family.V1_FAST
    lines = check(folder, None, silent, hashes=True)
    assert lines[0] == f"{folder} holds LingBot-World v1-fast in the diffusers layout."
    assert lines[-1] == "Every byte is as it was published."
    (folder / "vae" / "config.json").write_text("{}")
    with pytest.raises(WeightsProblem, match=r"vae/config\.json has 2 bytes instead of"):
        check(folder, None, silent, hashes=False)
