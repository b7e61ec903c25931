"""Counts instead of clocks: kernels launched, times that the host waited, graphs compiled. They do not flake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_WAITING = ("item", "_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique2", "unique_dim")
"""Operations whose result, or its size, the host needs before it can go on."""
_COPYING = ("_to_copy", "to", "copy_", "copy")
_CONVERTING = ("to", "contiguous", "type_as", "reshape", "flatten")
"""Operations that give the tensor itself, or a view of it, where there is nothing to do."""
_NO_KERNEL = ("empty", "empty_strided", "empty_like", "new_empty", "_unsafe_view", "detach", "alias", "lift_fresh")


class Counters(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's modes carry no types
    """Of everything computed inside the ``with``: ``kernels`` by name, and ``waits``, one line each time.

    On a device of its own (or torch's meta device, which has no values at all: whatever asks for one raises) copies
    to and from the host are seen; a copy from pinned memory that does not block is no wait.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kernels: Counter[str] = Counter()
        self.waits: list[str] = []

    @property
    def launches(self) -> int:
        return sum(self.kernels.values())

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        given = dict(kwargs or {})
        out = func(*args, **given)
        assert isinstance(func, torch._ops.OpOverload)
        name = func.overloadpacket.__name__
        wait = _wait(name, [leaf for leaf in tree_leaves(args) if isinstance(leaf, Tensor)], out, given, args)
        if wait is not None:
            self.waits.append(wait)
        if not func.is_view and name not in _NO_KERNEL and not (name in _CONVERTING and _shares(out, args)):
            self.kernels[name] += 1
        return out


def _wait(
    name: str, tensors: Sequence[Tensor], out: object, given: Mapping[str, object], args: Sequence[object]
) -> str | None:
    if name in _WAITING:
        return name
    if name not in _COPYING or not isinstance(out, Tensor):
        return None
    source = tensors[-1]  # copy_(target, source); the others have one tensor
    if source.device.type == out.device.type:
        return None
    if source.device.type == "cpu" and source.is_pinned() and (given.get("non_blocking") is True or args[-1] is True):
        return None
    if out.device.type == "cpu" and out.is_pinned() and (given.get("non_blocking") is True or args[-1] is True):
        return None
    return f"{name} {source.device.type}->{out.device.type} {tuple(source.shape)}"


def _shares(out: object, args: Sequence[object]) -> bool:
    source = args[0]
    assert isinstance(out, Tensor)
    assert isinstance(source, Tensor)
    return bool(out.untyped_storage()._cdata == source.untyped_storage()._cdata)


def graphs_compiled() -> int:
    """Graphs that ``torch.compile`` has made in this process; any difference after the warm-up is a recompile."""
    from torch._dynamo.utils import counters

    return int(counters["stats"]["unique_graphs"])
