"""Simplified Chinese."""

from __future__ import annotations

from app.words import english_settings

WORDS = dict(english_settings.WORDS)
