"""TfIdfVectorizer over integers: how often each n-gram of a pool occurs in a row, with skips."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp, Step
from webinfer.kernel import words
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step
from webinfer.ops.elements import emit_elements


@lowers("TfIdfVectorizer")
def lower_tfidf(op: FusedOp, ctx: Lowering) -> None:
    """An output element counts the n-grams of its coordinate. Single items are counted once, others for every skip."""
    step, shape = only_step(op), ctx.shape(op.output)
    mode = step.string("mode", "TF")
    if "pool_strings" in step.attributes:
        raise Unsupported("strings: map them to integers before the model")
    table = _table(step, shape[-1], words(ctx.dtype(step.inputs[0])))
    weights = step.attributes["weights"].as_floats() if "weights" in step.attributes and mode != "TF" else None
    operands = [
        Operand("x", step.inputs[0], width=1, bits=True),
        Operand("table", ctx.table(f"{op.name}/ngrams", np.array(table, np.int32)), width=1),
    ]
    if weights is not None:
        operands.append(Operand("weight", ctx.table(f"{op.name}/weights", np.array(weights, np.float32)), width=1))
    emit_elements(
        ctx,
        "tfidf",
        op.name,
        op.output,
        operands,
        {
            "size": shape[-1],
            "columns": ctx.shape(step.inputs[0])[-1] if ctx.shape(step.inputs[0]) else 1,
            "skips": step.int("max_skip_count", 0) + 1,
        },
        lanes=words(ctx.dtype(step.inputs[0])),
        once=mode == "IDF",
        weighted=weights is not None,
    )


def _table(step: Step, size: int, lanes: int) -> list[int]:
    """Per coordinate of the output where its n-grams begin, and the end; then the n-grams: length, number and items.

    Items are as many words as the input's elements. Where the pool holds an n-gram twice the last one counts.
    """
    pool, starts = step.ints("pool_int64s"), step.ints("ngram_counts")
    coordinates = enumerate(step.ints("ngram_indexes"))
    shortest, longest = step.int("min_gram_length", 1), step.int("max_gram_length", 1)
    places: dict[tuple[int, ...], tuple[int, int]] = {}
    for length, (first, end) in enumerate(zip(starts, (*starts[1:], len(pool)), strict=True), 1):
        for at in range(first, end - length + 1, length):
            place = next(coordinates)
            if shortest <= length <= longest:
                places[pool[at : at + length]] = place
    heads, body = [], list[int]()
    for coordinate in range(size):
        heads.append(size + 1 + len(body))
        for gram, number in ((g, n) for g, (n, place) in places.items() if place == coordinate):
            body += [len(gram), number]
            body += [_word(item >> 32 * lane) for item in gram for lane in range(lanes)]
    return [*heads, size + 1 + len(body), *body]


def _word(value: int) -> int:
    """The low 32 bits as a signed integer."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _case(dtype: type, mode: str, skips: int, shape: Sequence[int], g: Graph) -> None:
    random = np.random.default_rng(0)
    g.input("x", (random.integers(2, 9, shape) - 4).astype(dtype))
    g.node(
        "TfIdfVectorizer",
        ["x"],
        ["y"],
        mode=mode,
        min_gram_length=1,
        max_gram_length=2,
        max_skip_count=skips,
        ngram_counts=[0, 4],
        ngram_indexes=[0, 1, 2, 5, 4, 3, 6],
        pool_int64s=[2, 3, -1, 0, 4, 0, 3, 3, 1, 2],
        weights=[0.5, 2.0, 1.0, 3.0, 1.5, 0.25, 4.0],
    )
    g.output("y", dtype=TensorProto.FLOAT)


CASES = [
    Case("tf", partial(_case, np.int64, "TF", 3, (2, 30)), precisions=("fp32",)),
    Case("idf", partial(_case, np.int32, "IDF", 0, (20,)), precisions=("fp32",)),
    Case("tfidf", partial(_case, np.int32, "TFIDF", 1, (3, 12)), precisions=("fp32",)),
]
