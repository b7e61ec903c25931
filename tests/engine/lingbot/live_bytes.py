"""Counts the bytes that are alive, storage by storage; on the meta device at full size, without any memory."""

import weakref

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):
    """``peak`` since the start of what was made inside; what was there before is named in ``known``."""

    def __init__(self, *known: Tensor) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.alive: dict[int, int] = {tensor.untyped_storage()._cdata: 0 for tensor in known}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                self._see(tensor)
        return out

    def _see(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self.alive:
            self.alive[key] = storage.nbytes()
            self.now += storage.nbytes()
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._gone, key)

    def _gone(self, key: int) -> None:
        self.now -= self.alive.pop(key, 0)
