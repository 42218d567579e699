"""Einsum: any equation, contracted from left to right; axes become strides, so nothing is transposed beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.contraction import Axis, contract, general, merged_axes
from webinfer.ops.copy import rearrange, strides_of
from webinfer.symbols import broadcast_size, broadcast_stride


@dataclass(frozen=True)
class _Term:
    """An operand: its value, and size and stride in elements by label; a repeated label walks the diagonal."""

    value: str
    sizes: Mapping[str, int]
    strides: Mapping[str, int]

    @staticmethod
    def of(value: str, labels: Sequence[str], shape: Sequence[int]) -> _Term:
        """`value` with one label per axis."""
        sizes: dict[str, int] = {}
        strides: dict[str, int] = {}
        for label, size, stride in zip(labels, shape, strides_of(shape), strict=True):
            sizes[label] = size
            strides[label] = strides.get(label, 0) + stride
        return _Term(value, sizes, strides)

    def step(self, label: str, size: int) -> int:
        """Stride along `label`, which has `size` over all terms; 0 where it is broadcast."""
        return broadcast_stride(self.strides.get(label, 0), self.sizes.get(label, 1), size)


def parse(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Labels of every operand and of the output. An axis under an ellipsis is labelled by its distance from its end.

    Without "->" the output has the ellipsis and then, in alphabetical order, the letters that appear once.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = [_labels(text, rank) for text, rank in zip(left.split(","), ranks, strict=True)]
    hidden = max((sum(label.isdigit() for label in t) for t in terms), default=0)
    ellipsis = [str(d) for d in range(hidden, 0, -1)]
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        return terms, [*ellipsis, *sorted(c for c in set(letters) if letters.count(c) == 1)]
    before, dots, after = right.partition("...")
    return terms, [*before, *(ellipsis if dots else []), *after]


def _labels(text: str, rank: int) -> list[str]:
    before, dots, after = text.partition("...")
    hidden = rank - len(before) - len(after) if dots else 0
    return [*before, *(str(d) for d in range(hidden, 0, -1)), *after]


@lowers("Einsum")
def lower_einsum(op: FusedOp, ctx: Lowering) -> None:
    """Sums of products over the labels that the output lacks."""
    assert op.anchor is not None
    names = op.anchor.inputs
    equation = op.anchor.string("equation", "")
    labels, output = parse(equation, [len(ctx.shape(n)) for n in names])
    terms = [_Term.of(n, row, ctx.shape(n)) for n, row in zip(names, labels, strict=True)]
    if len(set(output)) != len(output):
        raise Unsupported(f"equation {equation}: a letter repeats in the output")
    if len(terms) == 1:
        _single(op, ctx, terms[0], output)
        return
    term = terms[0]
    for k, other in enumerate(terms[1:], 2):
        sizes = _sizes(term, other)
        last = k == len(terms)
        later = {label for t in terms[k:] for label in t.sizes} | set(output)
        kept = output if last else [label for label in sizes if label in later]
        target = op.output
        if not last:
            # Intermediate sums keep 32 bits.
            dtype = "float32" if ctx.element(op.output) == "f32" else ctx.dtype(op.output)
            target = ctx.scratch(f"{op.output}#{k}", [sizes[label] for label in kept], dtype)
        summed = [label for label in sizes if label not in kept]
        contract(
            ctx,
            op.name,
            (term.value, other.value),
            target,
            output=_axes(kept, sizes, term, other),
            depth=_axes(summed, sizes, term, other),
        )
        term = _Term.of(target, kept, [sizes[label] for label in kept])


def _sizes(*terms: _Term) -> dict[str, int]:
    """Size by label over all terms, 1 being broadcast."""
    sizes: dict[str, int] = {}
    for term in terms:
        sizes |= {label: broadcast_size(size, sizes.get(label, 1)) for label, size in term.sizes.items()}
    return sizes


def _axes(labels: Sequence[str], sizes: Mapping[str, int], x: _Term, w: _Term | None = None) -> list[Axis]:
    return [Axis(n, x.step(k, n), w.step(k, n) if w else 0) for k, n in ((k, sizes[k]) for k in labels)]


def _single(op: FusedOp, ctx: Lowering, term: _Term, output: Sequence[str]) -> None:
    """Transposes and diagonals are copies with other strides; sums go through the general kernel."""
    summed = [label for label in term.sizes if label not in output]
    if not summed:
        sizes = [term.sizes[label] for label in output]
        rearrange(ctx, op.name, term.value, op.output, sizes, [term.step(label, term.sizes[label]) for label in output])
        return
    general(
        ctx,
        op.name,
        [Operand("x", term.value, width=1)],
        op.output,
        output=merged_axes(_axes(output, term.sizes, term)),
        depth=merged_axes(_axes(summed, term.sizes, term)),
        term="load_x(x)",
    )


def _einsum(equation: str, shapes: Sequence[Sequence[int]], g: Graph) -> None:
    names = [g.input(f"x{k}", shape, scale=0.5) for k, shape in enumerate(shapes)]
    g.node("Einsum", names, ["y"], equation=equation)
    g.output("y")


# Tiers with f16 math sum runs of 8 products in f16.
_case = partial(Case, fp16=2e-3, reason="f16 partial sums")
CASES = [
    _case("rank5", partial(_einsum, "bcknd,bckns->bcnds", ((2, 3, 4, 2, 5), (2, 3, 4, 2, 6)))),
    _case("attention", partial(_einsum, "bhid,bhjd->bhij", ((2, 3, 5, 8), (2, 3, 7, 8)))),
    _case("contiguous", partial(_einsum, "...ij,jk", ((2, 17, 8), (8, 12)))),
    _case("implicit", partial(_einsum, "b a, a", ((3, 4), (4,)))),
    _case("diagonal", partial(_einsum, "...ii->...i", ((2, 5, 5),))),
    _case("trace", partial(_einsum, "ii", ((6, 6),))),
    _case("transpose", partial(_einsum, "abc->cab", ((2, 3, 4),))),
    _case("three", partial(_einsum, "ij,jk,kl->il", ((3, 4), (4, 5), (5, 6)))),
    _case("outer", partial(_einsum, "i,j->ij", ((5,), (7,)))),
    _case("batch_broadcast", partial(_einsum, "...ij,...jk->...ik", ((1, 3, 2, 4), (5, 1, 4, 3)))),
]
