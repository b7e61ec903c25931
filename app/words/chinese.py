"""Simplified Chinese."""

from __future__ import annotations

from app.words import english

WORDS = dict(english.WORDS)
