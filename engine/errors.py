"""The exception tree. Each class owns its sentence: what, where, what was got, what was expected, how to cure it.

WorldwalkError            anything that a user can meet; ``main`` prints it as one sentence, exits with ``exit_code``
+-- BadValue              a value from outside (setting, script, variable, command line) that cannot be used
+-- FileProblem           a file that is missing, unreadable, or not what it should be
+-- WeightsProblem        a weights file that is truncated, foreign, or of the wrong shape
+-- MissingModelValue     a model configuration that lacks a value which is needed
+-- NeedsHardware         something asked for that this machine does not have
+-- OutOfGpuMemory        a chunk for which the graphics card had not enough memory; the world is as before it
+-- NeedsLibrary          an optional library that is not installed
+-- RemoteProblem         a server that is absent, busy, broken, or not what it should be
+-- EngineLost            the engine's process died
"""

from __future__ import annotations


class WorldwalkError(Exception):
    """Base of every error that is shown to a user."""

    exit_code = 1


class BadValue(WorldwalkError):
    """``where`` names the place (file:line, variable or option), then what was got and expected."""

    exit_code = 2

    def __init__(self, where: str, got: str, expected: str, cure: str | None = None) -> None:
        self.where, self.got, self.expected, self.cure = where, got, expected, cure
        super().__init__(f"{where}: got {got}, expected {expected}.{f' {cure}' if cure else ''}")


class FileProblem(WorldwalkError):
    exit_code = 2

    def __init__(self, path: object, problem: str, cure: str) -> None:
        self.path, self.problem, self.cure = str(path), problem, cure
        super().__init__(f"{path}: {problem}. {cure}")


class WeightsProblem(FileProblem):
    """A weights file that cannot be loaded as what it claims to be."""


class MissingModelValue(WorldwalkError):
    exit_code = 2

    def __init__(self, model: str, name: str) -> None:
        self.model, self.name = model, name
        super().__init__(f"The configuration of {model} lacks '{name}'. Add it to the model's config.json.")


class OutOfGpuMemory(WorldwalkError):
    def __init__(self, problem: str) -> None:
        self.problem = problem
        cure = "Close other programs that use it, or choose a smaller picture, window or model."
        super().__init__(f"The graphics card has not enough free memory for the next pictures ({problem}). {cure}")


class NeedsHardware(WorldwalkError):
    exit_code = 2

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(f"{what} {cure}")


class NeedsLibrary(WorldwalkError):
    """``extra`` is the name of the optional dependencies (see pyproject.toml) that bring ``library``."""

    exit_code = 2

    def __init__(self, library: str, extra: str, why: str) -> None:
        self.library, self.extra = library, extra
        cure = f'Install it with: python -m pip install -e ".[{extra}]"'
        super().__init__(f"{why} the library {library}, which is not installed. {cure}")


class RemoteProblem(WorldwalkError):
    """``what`` happened with the server, in one sentence, and the ``cure``, in another."""

    def __init__(self, what: str, cure: str) -> None:
        self.what, self.cure = what, cure
        super().__init__(f"{what} {cure}")


class EngineLost(WorldwalkError):
    def __init__(self, exit_status: int | None) -> None:
        how = "was ended" if exit_status is None else f"ended with status {exit_status}"
        super().__init__(f"The engine's process {how}. Press R to start the world again from its last snapshot.")
