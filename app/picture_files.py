"""The picture on show as a PNG, with the recipe by which its world is found again in the file's text chunks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from app import recordings
from app.photo import SavePhoto
from app.values import AppState
from engine.protocol import Pixels


def recipe_of(state: AppState) -> dict[str, str]:
    """Texts by the PNG standard's keywords (Title, Description, Software), and all facts as JSON under one of ours."""
    scene, world = state.scene, state.world
    if scene is None or world is None:
        return {}
    facts: Mapping[str, object] = {
        "scene": scene.name,
        "image_sha256": scene.image_sha256,
        "seed": world.seed,
        "prompt": world.prompt if world.prompt is not None else scene.prompt,
        "chunk": world.chunk,
        "backend": world.card.backend,
        "model": world.card.model,
        "model_sha256": world.card.model_sha256,
    }
    return {
        "Title": f"Worldwalk: {scene.name}",
        "Description": str(facts["prompt"]),
        "Software": "Worldwalk",
        "worldwalk": json.dumps(facts, ensure_ascii=False),
    }


def save_photo(
    folder: Path, state: AppState, asked: SavePhoto, events: Sequence[tuple[int, Mapping[str, object]]]
) -> Path:
    """As ``save``, for a picture of photo mode; ``events``: what was asked of the world until its chunk."""
    recipe = recipe_of(state)
    session = {"chunk": asked.chunk, "retake": asked.retake.to_wire(), "events": events}
    if "worldwalk" in recipe:
        recipe["worldwalk"] = json.dumps({**json.loads(recipe["worldwalk"]), **session}, ensure_ascii=False)
    name = state.scene.name if state.scene is not None else "walk"
    path = recordings.unused_path(folder, name, ".png", datetime.now())
    recordings.save_picture(path, asked.picture, recipe)
    return path


def save(folder: Path, state: AppState, frame: Pixels) -> Path:
    """Write the frame, RGB [H, W, 3], under a new name. Raises FileProblem."""
    name = state.scene.name if state.scene is not None else "walk"
    path = recordings.unused_path(folder, name, ".png", datetime.now())
    recordings.save_picture(path, frame, recipe_of(state))
    return path
