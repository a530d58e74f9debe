"""Convolutions and windows in numpy, in float64, from their definitions. Images are N…C, filters …IO."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

Pads = tuple[tuple[int, int], ...]


@dataclasses.dataclass(frozen=True)
class Window:
    """A window over spatial dimensions, slowest first."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pads: Pads
    dilation: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.kernel)

    def result_size(self, size: int, dimension: int) -> int:
        extent = (self.kernel[dimension] - 1) * self.dilation[dimension] + 1
        return (size + sum(self.pads[dimension]) - extent) // self.stride[dimension] + 1

    def result_shape(self, image: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.result_size(size, i) for i, size in enumerate(image))

    def taps(self, results: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """Yields each position in the window, and the slices of a padded image that it covers."""
        for tap in itertools.product(*map(range, self.kernel)):
            met = tuple(
                slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
                for at, dilation, stride, count in zip(tap, self.dilation, self.stride, results)
            )
            yield tap, (slice(None), *met, slice(None))

    def padded(self, x: np.ndarray, value: float = 0) -> np.ndarray:
        # Windows may extend beyond the padding.
        more = [stride + side * step for stride, side, step in zip(self.stride, self.kernel, self.dilation)]
        grown = [(low, high + extra) for (low, high), extra in zip(self.pads, more)]
        return np.pad(x.astype(np.float64), ((0, 0), *grown, (0, 0)), constant_values=value)

    def unpadded(self, x: np.ndarray, image: tuple[int, ...]) -> np.ndarray:
        inside = [slice(low, low + size) for (low, _), size in zip(self.pads, image)]
        index = (slice(None), *inside, slice(None))
        return x[index]


def _groups(channels: int, count: int) -> list[slice]:
    size = channels // count
    return [slice(i * size, (i + 1) * size) for i in range(count)]


def convolution(x: np.ndarray, w: np.ndarray, window: Window, groups: int = 1) -> np.ndarray:
    results = window.result_shape(x.shape[1:-1])
    y = np.zeros((x.shape[0], *results, w.shape[-1]))
    padded, filters = window.padded(x), w.astype(np.float64)
    for tap, met in window.taps(results):
        for inputs, outputs in zip(_groups(x.shape[-1], groups), _groups(w.shape[-1], groups)):
            y[..., outputs] += padded[met][..., inputs] @ filters[tap][:, outputs]
    return y


def image_gradient(
    dy: np.ndarray, w: np.ndarray, image: tuple[int, ...], channels: int, window: Window, groups: int = 1
) -> np.ndarray:
    dx = window.padded(np.zeros((dy.shape[0], *image, channels)))
    filters = w.astype(np.float64)
    for tap, met in window.taps(dy.shape[1:-1]):
        for inputs, outputs in zip(_groups(channels, groups), _groups(w.shape[-1], groups)):
            dx[met][..., inputs] += dy.astype(np.float64)[..., outputs] @ filters[tap][:, outputs].T
    return window.unpadded(dx, image)


def filter_gradient(dy: np.ndarray, x: np.ndarray, window: Window, groups: int = 1) -> np.ndarray:
    dw = np.zeros((*window.kernel, x.shape[-1] // groups, dy.shape[-1]))
    padded = window.padded(x)
    for tap, met in window.taps(dy.shape[1:-1]):
        for inputs, outputs in zip(_groups(x.shape[-1], groups), _groups(dy.shape[-1], groups)):
            rows = padded[met][..., inputs].reshape(-1, x.shape[-1] // groups)
            dw[tap][:, outputs] += rows.T @ dy.astype(np.float64)[..., outputs].reshape(rows.shape[0], -1)
    return dw
