"""Attention and rotary embeddings of any size, mask and cache against ONNX Runtime CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.harness import Array, check_node

_SETTINGS = settings(max_examples=12, derandomize=True, deadline=None, database=None)
_FLAGS = st.booleans()
_DIMS = st.sampled_from((1, 2, 3, 4, 5, 8, 12, 17))


class _Draws:
    """Draws sizes, and arrays from one seed."""

    def __init__(self, data: st.DataObject, dtype: Any) -> None:
        self.draw = data.draw
        self._dtype = dtype
        self._random = np.random.default_rng(data.draw(st.integers(0, 9)))

    def size(self, low: int = 1, high: int = 9) -> int:
        return self.draw(st.integers(low, high))

    def floats(self, *shape: int) -> Array:
        return (0.5 * self._random.standard_normal(shape)).astype(self._dtype)

    def truth(self, *shape: int) -> Array:
        return self._random.random(shape) < 0.7

    def broadcast(self, shape: list[int]) -> list[int]:
        """A shape that broadcasts to `shape` and keeps its last two dimensions, as ONNX Runtime demands."""
        sizes = [self.draw(st.sampled_from((1, n))) for n in shape[:-2]] + shape[-2:]
        return sizes[self.draw(st.integers(0, 2)) :]


@_SETTINGS
@given(data=st.data(), dtype=st.sampled_from((np.float32, np.float16)))
def test_attention(data: st.DataObject, dtype: Any) -> None:
    """ONNX Attention: grouped heads, masks, soft cap, causal, past and present, scores."""
    d = _Draws(data, dtype)
    batch, kv_heads, group = d.size(high=2), d.size(high=3), d.size(high=3)
    heads, queries, new, past = kv_heads * group, d.size(), d.size(high=20), d.draw(st.sampled_from((0, 0, 3, 8)))
    dims, v_dims, flat = d.draw(_DIMS), d.draw(_DIMS), d.draw(_FLAGS)
    sizes = ((heads, queries, dims), (kv_heads, new, dims), (kv_heads, new, v_dims))
    attributes: dict[str, Any] = {"q_num_heads": heads, "kv_num_heads": kv_heads} if flat else {}
    inputs: list[Array | None] = [
        d.floats(batch, n, h * width) if flat else d.floats(batch, h, n, width) for h, n, width in sizes
    ]
    mask = d.draw(st.sampled_from(("", "float", "bool")))
    shape = d.broadcast([batch, heads, queries, past + new])
    inputs.append(None if not mask else d.truth(*shape) if mask == "bool" else d.floats(*shape))
    if past:
        inputs += [d.floats(batch, kv_heads, past, dims), d.floats(batch, kv_heads, past, v_dims)]
    if d.draw(_FLAGS):
        attributes["scale"] = 0.3
    # ONNX Runtime lets a single query see all keys, whatever its position.
    if (queries > 1 or new == 1) and d.draw(_FLAGS):
        attributes["is_causal"] = 1
    if d.draw(_FLAGS):
        attributes["softcap"] = 1.5
    # Mode 2 shows masked scores: -inf by ONNX's text, the lowest float in ONNX Runtime.
    mode = d.draw(st.sampled_from((None, 0, 1, 3))) if past and dtype == np.float32 else None
    if mode is not None:
        attributes["qk_matmul_output_mode"] = mode
    outputs = 4 if mode is not None else 3 if past else 1
    check_node("Attention", inputs, outputs=outputs, **attributes)


@_SETTINGS
@given(data=st.data())
def test_multi_head_attention(data: st.DataObject) -> None:
    """com.microsoft MultiHeadAttention: bias, key padding, score bias, past and present."""
    d = _Draws(data, np.float32)
    batch, heads, queries, new = d.size(high=2), d.size(high=3), d.size(), d.size(high=20)
    dims, v_dims, past = d.draw(_DIMS), d.draw(_DIMS), d.draw(st.sampled_from((0, 4)))
    if past:
        new, v_dims = queries, dims
    inputs: list[Array | None] = [
        d.floats(batch, n, heads * w) for n, w in ((queries, dims), (new, dims), (new, v_dims))
    ]
    inputs.append(d.floats(heads * (2 * dims + v_dims)) if d.draw(_FLAGS) else None)
    padding = d.draw(st.sampled_from((None, (batch,), (batch, past + new), (batch, queries, past + new))))
    if padding is None:
        inputs.append(None)
    elif len(padding) == 1:
        inputs.append(np.arange(1, batch + 1, dtype=np.int32) % (past + new + 1))
    else:
        inputs.append(d.truth(*padding).astype(np.int32))
    shape = (d.draw(st.sampled_from((1, batch))), d.draw(st.sampled_from((1, heads))), queries, past + new)
    inputs.append(d.floats(*shape) if d.draw(_FLAGS) else None)
    if past:
        inputs += [d.floats(batch, heads, past, dims), d.floats(batch, heads, past, v_dims)]
    # With other numbers of keys ONNX Runtime's CPU lets the last query alone see them all.
    causal = int(new == queries and d.draw(_FLAGS))
    outputs = 3 if past else 1
    check_node(
        "MultiHeadAttention", inputs, outputs=outputs, domain="com.microsoft", num_heads=heads, unidirectional=causal
    )


@_SETTINGS
@given(data=st.data())
def test_group_query_attention(data: st.DataObject) -> None:
    """com.microsoft GroupQueryAttention: prompt or chunk, rotary embedding, window, soft cap, sinks."""
    d = _Draws(data, np.float32)
    kv_heads, group, tokens, past = d.size(high=2), d.size(high=3), d.size(), d.draw(st.sampled_from((0, 1, 6)))
    heads, dims, turned = kv_heads * group, 16, d.draw(_FLAGS)
    inputs: list[Array | None]
    if d.draw(_FLAGS):
        inputs = [d.floats(1, tokens, (heads + 2 * kv_heads) * dims), None, None]
    else:
        inputs = [d.floats(1, tokens, n * dims) for n in (heads, kv_heads, kv_heads)]
    inputs += [d.floats(1, kv_heads, past, dims) if past else None for _ in range(2)]
    total = past + tokens
    inputs += [np.array([total - 1], np.int32), np.array(total, np.int32)]
    inputs += [d.floats(32, dims // 2) if turned else None for _ in range(2)]
    inputs += [None, d.floats(1, heads, tokens, total) if d.draw(_FLAGS) else None]
    inputs.append(d.floats(heads) if d.draw(_FLAGS) else None)
    attributes: dict[str, Any] = {"do_rotary": int(turned), "rotary_interleaved": int(d.draw(_FLAGS))}
    attributes |= {"local_window_size": d.draw(st.sampled_from((-1, 1, 4)))}
    check_node(
        "GroupQueryAttention",
        inputs,
        constant=(6,),
        outputs=3,
        domain="com.microsoft",
        num_heads=heads,
        kv_num_heads=kv_heads,
        softcap=d.draw(st.sampled_from((0.0, 1.5))),
        **attributes,
    )


@_SETTINGS
@given(data=st.data(), dtype=st.sampled_from((np.float32, np.float16)))
def test_rotary_embedding(data: st.DataObject, dtype: Any) -> None:
    """Both layouts, pairs side by side or in halves, part of the dimensions, with and without positions."""
    d = _Draws(data, dtype)
    batch, heads, tokens, half = d.size(high=2), d.size(high=3), d.size(), d.size(high=5)
    dims = 2 * half + 2 * d.draw(st.integers(0, 2))
    flat, ids = d.draw(_FLAGS), d.draw(_FLAGS)
    x = d.floats(*((batch, tokens, heads * dims) if flat else (batch, heads, tokens, dims)))
    caches = [d.floats(*((11, half) if ids else (batch, tokens, half))) for _ in range(2)]
    positions = np.arange(batch * tokens, dtype=np.int64).reshape(batch, tokens) % 11 if ids else None
    attributes: dict[str, Any] = {"interleaved": int(d.draw(_FLAGS))}
    if flat:
        attributes["num_heads"] = heads
    if dims != 2 * half:
        attributes["rotary_embedding_dim"] = 2 * half
    check_node("RotaryEmbedding", [x, *caches, *([positions] if positions is not None else [])], **attributes)
