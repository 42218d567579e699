"""The sizes at which a model with symbols is tried: the largest, the smallest, and odd ones between."""

from __future__ import annotations

from collections.abc import Iterable

from webinfer.symbols import Size, Symbol, evaluate


def sample_sizes(symbols: Iterable[Symbol], zeros: Iterable[Size] = ()) -> list[dict[str, int]]:
    """Sizes by name that meet all constraints (`zeros` are 0 there); one empty choice for a model without symbols.

    Raises ValueError where no sample meets them.
    """
    symbols, zeros = list(symbols), list(zeros)
    found: list[dict[str, int]] = []
    for pick in (_largest, _smallest, _between, _together):
        sizes = {s.name: pick(s, k) for k, s in enumerate(symbols)}
        if sizes not in found and all(evaluate(z, sizes) == 0 for z in zeros):
            found.append(sizes)
    if not found:
        raise ValueError(f"no sizes of {', '.join(s.name for s in symbols)} were found that meet {zeros}")
    return found


def _largest(symbol: Symbol, _: int) -> int:
    return symbol.maximum


def _smallest(symbol: Symbol, _: int) -> int:
    return symbol.minimum


def _between(symbol: Symbol, number: int) -> int:
    """Another odd multiple for every symbol, so that what mixes two of them up shows."""
    steps = (symbol.maximum - symbol.minimum) // symbol.multiple
    first = symbol.minimum // symbol.multiple
    middle = first + steps // 2 + 2 * number
    return min(max(middle | 1, first), first + steps) * symbol.multiple


def _together(symbol: Symbol, _: int) -> int:
    """About the same for all symbols: constraints often ask for equal sizes."""
    return min(max(16 // symbol.multiple * symbol.multiple, symbol.minimum), symbol.maximum)
