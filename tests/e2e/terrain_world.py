"""The game's world in numpy, as demo_game/src/world has it: noise of a tile, and heights blended from tiles."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

TILE, STRIDE, BLOCK = 128, 80, 16
SIGMA = 80.0
VERTICAL, ASINH_SCALE, HEIGHT_MAX = 70.0, 0.1, 22.16864013671875
BEND, HEADROOM = 0.1, 0.35
LAY = ((384, 0.6), (144, 0.3), (64, 0.1))
GOLDEN = 0x9E3779B9

Words = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float64]


def mix(value: Words) -> Words:
    """A bijection of 32-bit integers (C. Wellons, "lowbias32")."""
    x = value ^ (value >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x = x * np.uint32(0x846CA68B)
    mixed: Words = x ^ (x >> np.uint32(16))
    return mixed


def words(values: npt.ArrayLike) -> Words:
    """Integers of any sign as 32-bit words."""
    return np.atleast_1d(np.asarray(values, dtype=np.int64) & 0xFFFFFFFF).astype(np.uint32)


def hash_cells(seed: int, x: npt.ArrayLike, z: npt.ArrayLike) -> Words:
    """32 random bits of each cell; rows along z."""
    return mix(mix(mix(words(seed + GOLDEN)) ^ words(z)[:, None]) ^ words(x)[None, :])


def noise(seed: int, i: int, j: int) -> npt.NDArray[np.float32]:
    """The model's input `noisy` for tile (i, j): [1, 1, 128, 128]."""
    cells = np.arange(TILE)
    hashes = hash_cells(seed, cells + i * STRIDE, cells + j * STRIDE)
    total = np.zeros((TILE, TILE), dtype=np.int64)
    for word in range(4):
        bits = mix(hashes + words(word * GOLDEN))
        for byte in range(4):
            total += (bits >> np.uint32(8 * byte) & np.uint32(255)).astype(np.int64)
    factor = SIGMA / np.sqrt(16 * (256 * 256 - 1) / 12)
    noisy: npt.NDArray[np.float32] = ((total - 2040) * factor).astype(np.float32)[None, None]
    return noisy


def smooth_noise(seed: int, x: npt.NDArray[np.int64], z: npt.NDArray[np.int64], period: int) -> Floats:
    """Values of [0, 1) at multiples of `period`, joined by quintic polynomials; rows along z."""
    (column, u), (row, v) = ((axis // period, axis % period / period) for axis in (x, z))
    u, v = (t**3 * (t * (t * 6 - 15) + 10) for t in (u, v))

    def corner(dx: int, dz: int) -> Floats:
        return (hash_cells(seed, column + dx, row + dz) >> np.uint32(8)) / 16777216.0

    near = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * u[None, :]
    far = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * u[None, :]
    return near + (far - near) * v[:, None]


def lay(seed: int, x: npt.NDArray[np.int64], z: npt.NDArray[np.int64]) -> Floats:
    """Lay of the land, 0 to 1."""
    total = np.zeros((z.size, x.size))
    for octave, (period, weight) in enumerate(LAY):
        total += weight * smooth_noise(int(mix(words(seed + 101 * (octave + 1)))[0]), x, z, period)
    return total


def tiles_of(block: tuple[int, int]) -> list[tuple[int, int]]:
    """The tiles (i, j) that cover a block (x, z)."""
    ranges = [range(-((TILE - BLOCK - at * BLOCK) // STRIDE), at * BLOCK // STRIDE + 1) for at in block]
    return [(i, j) for j in ranges[1] for i in ranges[0]]


def block_heights(
    seed: int, block: tuple[int, int], reliefs: Mapping[tuple[int, int], npt.NDArray[np.float32]]
) -> Floats:
    """Metres above the sea bed of a block's cells, from the model's outputs [128, 128] of the tiles that cover it."""
    x, z = (np.arange(at * BLOCK, (at + 1) * BLOCK) for at in block)
    hann = np.maximum(np.hanning(TILE), 1e-3)
    total, weights = np.zeros((BLOCK, BLOCK)), np.zeros((BLOCK, BLOCK))
    for i, j in tiles_of(block):
        value = reliefs[i, j].astype(np.float64)
        u, v = x - i * STRIDE, z - j * STRIDE
        weight = hann[v][:, None] * hann[u][None, :]
        total += weight * (value[np.ix_(v, u)] - value.mean())
        weights += weight
    relief, level = total / weights, lay(seed, x, z)
    value = -1.1 + 1.8 * level + 1.4 * (0.5 + level) * relief
    bent = np.where(value < BEND, value, BEND + HEADROOM * (1 - np.exp((BEND - value) / HEADROOM)))
    unit = np.maximum((bent + 1) / 2, 0)
    return np.asarray(VERTICAL * ASINH_SCALE * np.sinh(unit * np.arcsinh(HEIGHT_MAX / ASINH_SCALE)))
