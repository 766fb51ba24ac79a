"""Tensors by name, in this project's own names: what both checkpoint formats are read into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torch import Tensor


class Weights:
    """A mapping of names to tensors that can be entered by prefix, and says what is missing by its full name."""

    def __init__(self, tensors: Mapping[str, Tensor], prefix: str = "") -> None:
        self._tensors = tensors
        self._prefix = prefix

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[self._prefix + name]

    def __contains__(self, name: str) -> bool:
        return self._prefix + name in self._tensors

    def get(self, name: str) -> Tensor | None:
        return self._tensors.get(self._prefix + name)

    def items(self) -> Iterator[tuple[str, Tensor]]:
        for name, tensor in self._tensors.items():
            if name.startswith(self._prefix):
                yield name.removeprefix(self._prefix), tensor

    def under(self, prefix: str) -> Weights:
        return Weights(self._tensors, f"{self._prefix}{prefix}.")

    def series(self, prefix: str) -> Iterator[Weights]:
        """`prefix.0`, `prefix.1`, … as far as there are any."""
        number = 0
        while any(name.startswith(f"{self._prefix}{prefix}.{number}.") for name in self._tensors):
            yield self.under(f"{prefix}.{number}")
            number += 1
