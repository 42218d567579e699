"""Matrix products, recurrent layers and Fourier transforms against ONNX Runtime CPU, or NumPy in double."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from tests.property.harness import Array, check, node_model, reference_outputs

_SETTINGS = settings(max_examples=8, derandomize=True, deadline=None, database=None)
_SEEDS = st.integers(0, 99)
_SIZES = st.sampled_from((1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33))
_FLOATS, _INTEGERS = (np.float32, np.float16), (np.int32, np.uint32, np.int64, np.uint64)


def _random(seed: int, dtype: Any, *shape: int, scale: float = 1.0) -> Array:
    """Normal floats, or integers over their whole range, so that sums wrap."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return (scale * rng.standard_normal(shape)).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def _check(
    op_type: str,
    inputs: Sequence[Array | None],
    expected: Sequence[Array] | None = None,
    *,
    constant: Sequence[int] = (),
    outputs: int = 1,
    **attributes: Any,
) -> None:
    """`expected` is what NumPy gives in more digits, for what ONNX Runtime lacks or rounds."""
    model, feeds = node_model(op_type, inputs, constant=constant, outputs=outputs, **attributes)
    names = [v.name for v in model.graph.output]
    wanted = reference_outputs(model, feeds) if expected is None else dict(zip(names, expected, strict=True))
    for value in model.graph.output:
        kind = helper.np_dtype_to_tensor_dtype(wanted[value.name].dtype)
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, wanted[value.name].shape))
    check(model, feeds, expected=wanted)


def _in_double(dtype: Any) -> Any:
    return np.float64 if np.dtype(dtype).kind == "f" else dtype


@_SETTINGS
@given(
    data=st.data(),
    dtype=st.sampled_from((*_FLOATS, *_INTEGERS)),
    batch=st.lists(st.integers(1, 3), max_size=6),
    sizes=st.tuples(_SIZES, st.one_of(st.just(0), _SIZES), _SIZES),
    seed=_SEEDS,
    constant=st.booleans(),
)
def test_matmul(data: st.DataObject, dtype: Any, batch: list[int], sizes: Any, seed: int, constant: bool) -> None:
    def operand(matrix: list[int], vector: list[int]) -> list[int]:
        if data.draw(st.integers(0, 5)) == 0:
            return vector
        own = batch[data.draw(st.integers(0, len(batch))) :]
        return [*(n if data.draw(st.booleans()) else 1 for n in own), *matrix]

    rows, depth, columns = sizes
    x = _random(seed, dtype, *operand([rows, depth], [depth]))
    w = _random(seed + 1, dtype, *operand([depth, columns], [depth]), scale=0.3)
    y = np.asarray(x.astype(_in_double(dtype)) @ w.astype(_in_double(dtype))).astype(dtype)
    _check("MatMul", [x, w], [y], constant=[1] if constant else [])


@_SETTINGS
@given(
    data=st.data(),
    dtype=st.sampled_from((*_FLOATS, np.int32, np.int64)),
    sizes=st.tuples(_SIZES, _SIZES, _SIZES),
    flags=st.tuples(st.booleans(), st.booleans()),
    seed=_SEEDS,
    constant=st.booleans(),
)
def test_gemm(data: st.DataObject, dtype: Any, sizes: Any, flags: tuple[bool, bool], seed: int, constant: bool) -> None:
    rows, depth, columns = sizes
    shapes = (None, (), (1,), (columns,), (1, columns), (rows, 1), (rows, columns))
    shape = data.draw(st.sampled_from(shapes))
    a, b = _random(seed, dtype, rows, depth), _random(seed + 1, dtype, depth, columns, scale=0.3)
    c = None if shape is None else np.asarray(_random(seed + 2, dtype, *shape))
    factors = st.sampled_from((1.0, 0.5, -2.25)) if np.dtype(dtype).kind == "f" else st.just(1.0)
    alpha, beta = data.draw(factors), data.draw(factors)
    wide = _in_double(dtype)
    y = a.astype(wide) @ b.astype(wide)
    if wide is np.float64:
        y = alpha * y + beta * (0.0 if c is None else c.astype(wide))
    elif c is not None:
        y = y + c
    inputs = [np.ascontiguousarray(v.T) if t else v for v, t in zip((a, b), flags, strict=True)]
    names: dict[str, Any] = {"transA": int(flags[0]), "transB": int(flags[1]), "alpha": alpha, "beta": beta}
    _check("Gemm", [*inputs, c][: 2 if c is None else 3], [y.astype(dtype)], constant=[1] if constant else [], **names)


@settings(_SETTINGS, max_examples=16)
@given(data=st.data(), dtype=st.sampled_from((np.float32, np.int32, np.int64, np.int8)), seed=_SEEDS)
def test_einsum(data: st.DataObject, dtype: Any, seed: int) -> None:
    size = dict(zip("abcde", data.draw(st.tuples(*[st.integers(1, 4)] * 5)), strict=True))
    hidden = data.draw(st.lists(st.integers(2, 3), max_size=2))
    terms, arrays = [], []
    for k in range(data.draw(st.integers(1, 3))):
        term = data.draw(st.text("abcde", max_size=4))
        shape = [size[c] for c in term]
        if hidden:
            own = hidden[data.draw(st.integers(0, len(hidden))) :]
            at = data.draw(st.integers(0, len(term)))
            term = f"{term[:at]}...{term[at:]}"
            shape[at:at] = [n if data.draw(st.booleans()) else 1 for n in own]
        terms.append(term)
        arrays.append(np.asarray(_random(seed + k, dtype, *shape, scale=0.5)))
    equation = ",".join(terms)
    letters = sorted(set(equation) - set(",."))
    if data.draw(st.integers(0, 3)):
        chosen = data.draw(st.lists(st.sampled_from(letters), unique=True)) if letters else []
        equation += f"->{'...' if hidden else ''}{''.join(chosen)}"
    y = np.einsum(equation, *(a.astype(_in_double(dtype)) for a in arrays))
    _check("Einsum", arrays, [np.asarray(y).astype(dtype)], equation=equation)


@pytest.mark.parametrize("constant", [False, True])
def test_einsum_of_rank_5(constant: bool) -> None:
    x, w = _random(0, np.float32, 2, 3, 4, 2, 5), _random(1, np.float32, 2, 3, 4, 2, 6)
    _check("Einsum", [x, w], constant=[1] if constant else [], equation="bcknd,bckns->bcnds")


_BYTES = st.sampled_from((np.uint8, np.int8))


@_SETTINGS
@given(data=st.data(), types=st.tuples(_BYTES, _BYTES), sizes=st.tuples(_SIZES, _SIZES, _SIZES), seed=_SEEDS)
def test_matmul_integer(data: st.DataObject, types: Any, sizes: Any, seed: int) -> None:
    rows, depth, columns = sizes
    batch = data.draw(st.sampled_from(((), (2,), (2, 3))))
    x, w = _random(seed, types[0], *batch, rows, depth), _random(seed + 1, types[1], depth, columns)
    zero_x = data.draw(st.sampled_from((None, (), (1,), (rows,))))
    zero_w = data.draw(st.sampled_from((None, (), (columns,))))
    zeros = [
        None if s is None else np.asarray(_random(seed, t, *s)) for s, t in zip((zero_x, zero_w), types, strict=True)
    ]
    left, right = x.astype(np.int32), w.astype(np.int32)
    if zeros[0] is not None:
        left = left - (zeros[0][:, None] if zeros[0].ndim else zeros[0]).astype(np.int32)
    if zeros[1] is not None:
        right = right - zeros[1].astype(np.int32)
    _check("MatMulInteger", [x, w, *zeros], [(left @ right).astype(np.int32)], constant=[1])


@_SETTINGS
@given(
    types=_BYTES,
    sizes=st.tuples(_SIZES, _SIZES, _SIZES),
    per_column=st.booleans(),
    seed=_SEEDS,
    constant=st.booleans(),
)
def test_qlinear_matmul(types: Any, sizes: Any, per_column: bool, seed: int, constant: bool) -> None:
    rows, depth, columns = sizes
    each = (columns,) if per_column else ()
    scales = np.random.default_rng(seed).uniform(0.001, 0.02, each)
    inputs: list[Any] = [
        *(_random(seed, types, 2, rows, depth), np.float32(0.02), _random(seed + 1, types)),
        *(_random(seed + 2, np.int8, depth, columns), np.float32(scales), np.zeros(each, np.int8)),
        *(np.float32(0.11), _random(seed + 3, types)),
    ]
    inputs = [np.asarray(a) for a in inputs]
    _check("QLinearMatMul", inputs, constant=range(1, 8) if constant else [3, 4, 5], opset=20)


@_SETTINGS
@given(sizes=st.tuples(_SIZES, _SIZES, _SIZES), per_column=st.booleans(), bias=st.booleans(), seed=_SEEDS)
def test_dynamic_quantize_matmul(sizes: Any, per_column: bool, bias: bool, seed: int) -> None:
    rows, depth, columns = sizes
    each = columns if per_column else 1
    inputs = [
        *(_random(seed, np.float32, rows, depth), _random(seed + 1, np.int8, depth, columns)),
        *(np.linspace(0.001, 0.02, each, dtype=np.float32), np.zeros(each, np.int8)),
        *([_random(seed + 2, np.float32, columns)] if bias else []),
    ]
    _check("DynamicQuantizeMatMul", inputs, constant=[1, 2, 3], domain="com.microsoft")


@_SETTINGS
@given(sizes=st.tuples(_SIZES, _SIZES, _SIZES), flags=st.tuples(*[st.booleans()] * 3), seed=_SEEDS)
def test_fused_matmul(sizes: Any, flags: tuple[bool, ...], seed: int) -> None:
    rows, depth, columns = sizes
    batch = 3
    x = (batch, depth, rows) if flags[0] else (batch, rows, depth)
    w = (batch, columns, depth) if flags[1] else (batch, depth, columns)
    if flags[2]:
        x, w = (x[1], batch, x[2]), (w[1], batch, w[2])
    names: dict[str, Any] = {"transA": flags[0], "transB": flags[1], "transBatchA": flags[2], "transBatchB": flags[2]}
    names = {name: int(flag) for name, flag in names.items()}
    inputs = [_random(seed, np.float32, *x), _random(seed + 1, np.float32, *w, scale=0.3)]
    _check("FusedMatMul", inputs, domain="com.microsoft", alpha=0.75, **names)


@_SETTINGS
@given(
    bits=st.sampled_from((4, 8)),
    block=st.sampled_from((16, 32, 64, 128, 256)),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 300), st.integers(1, 30)),
    zeros=st.sampled_from(("", "packed", "float")),
    bias=st.booleans(),
    seed=_SEEDS,
)
def test_matmul_nbits(bits: int, block: int, sizes: Any, zeros: str, bias: bool, seed: int) -> None:
    """The weight has one scale per run of `block` elements; the last run of a column may be cut short."""
    rows, depth, columns = sizes
    blocks = -(-depth // block)
    inputs: list[Array | None] = [
        _random(seed, np.float32, rows, depth),
        _random(seed + 1, np.uint8, columns, blocks, block * bits // 8),
        _random(seed + 2, np.float32, columns * blocks, scale=1.0 / 2**bits),
    ]
    if zeros == "packed":
        inputs.append(_random(seed + 3, np.uint8, columns * -(-blocks * bits // 8)))
    elif zeros == "float" and depth % block == 0:
        inputs.append(np.random.default_rng(seed).uniform(0, 2**bits, columns * blocks).astype(np.float32))
    else:
        inputs.append(None)
    inputs += [None, _random(seed + 4, np.float32, columns) if bias else None]
    fixed = [k for k in (1, 2, 3, 5) if inputs[k] is not None]
    sizes_of = {"K": depth, "N": columns, "bits": bits, "block_size": block}
    _check("MatMulNBits", inputs, constant=fixed, domain="com.microsoft", **sizes_of)


@_SETTINGS
@given(
    data=st.data(),
    op_type=st.sampled_from(("RNN", "GRU", "LSTM")),
    direction=st.sampled_from(("forward", "reverse", "bidirectional")),
    sizes=st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 6), st.integers(1, 40)),
    seed=_SEEDS,
)
def test_recurrent(data: st.DataObject, op_type: str, direction: str, sizes: Any, seed: int) -> None:
    time, batch, depth, hidden = sizes
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op_type]
    directions = 2 if direction == "bidirectional" else 1

    def maybe(array: Array) -> Array | None:
        return array if data.draw(st.booleans()) else None

    inputs: list[Array | None] = [
        _random(seed, np.float32, time, batch, depth),
        _random(seed + 1, np.float32, directions, gates * hidden, depth, scale=0.5),
        _random(seed + 2, np.float32, directions, gates * hidden, hidden, scale=0.3),
        maybe(_random(seed + 3, np.float32, directions, 2 * gates * hidden)),
        maybe(np.random.default_rng(seed).integers(1, time + 1, batch).astype(np.int32)),
        maybe(_random(seed + 4, np.float32, directions, batch, hidden)),
    ]
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if data.draw(st.booleans()):
        attributes["clip"] = 0.7
    if op_type == "LSTM":
        inputs.append(maybe(_random(seed + 5, np.float32, directions, batch, hidden)))
        inputs.append(maybe(_random(seed + 6, np.float32, directions, 3 * hidden)))
        attributes["input_forget"] = data.draw(st.integers(0, 1))
    elif op_type == "GRU":
        attributes["linear_before_reset"] = data.draw(st.integers(0, 1))
    if data.draw(st.booleans()):
        count = directions * {"RNN": 1, "GRU": 2, "LSTM": 3}[op_type]
        names = ("Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Elu", "Softsign", "Softplus", "Affine")
        chosen = data.draw(st.lists(st.sampled_from(names), min_size=count, max_size=count))
        attributes["activations"] = chosen
        for name, takers in (
            ("alpha", ("LeakyRelu", "HardSigmoid", "Elu", "Affine")),
            ("beta", ("HardSigmoid", "Affine")),
        ):
            scales = [0.4] * sum(c in takers for c in chosen)
            attributes |= {f"activation_{name}": scales} if scales else {}
    _check(op_type, inputs, constant=[1, 2], outputs=3 if op_type == "LSTM" else 2, opset=21, **attributes)


@settings(_SETTINGS, max_examples=12)
@given(
    data=st.data(),
    points=st.sampled_from((1, 2, 3, 5, 8, 12, 64, 66, 100, 127, 210, 256)),
    outer=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    form=st.sampled_from(("pairs", "real", "onesided", "inverse")),
    seed=_SEEDS,
)
def test_dft(data: st.DataObject, points: int, outer: list[int], form: str, seed: int) -> None:
    axis = data.draw(st.integers(1, len(outer)))
    shape = [*outer[:axis], points, *outer[axis:]]
    length = max(points + data.draw(st.sampled_from((0, 0, 3, -2))), 1)
    x = _random(seed, np.float32, *shape, 1 if form in ("real", "onesided") else 2)
    z = x[..., 0].astype(np.float64) + (1j * x[..., 1] if x.shape[-1] == 2 else 0.0)
    y = np.fft.ifft(z, length, axis) if form == "inverse" else np.fft.fft(z, length, axis)
    if form == "onesided":
        y = np.take(y, range(length // 2 + 1), axis)
    inputs = [x, np.array(length, np.int64), np.array(axis, np.int64)]
    flags = {"inverse": int(form == "inverse"), "onesided": int(form == "onesided")}
    expected = np.stack([y.real, y.imag], -1).astype(np.float32)
    _check("DFT", inputs, [expected], constant=[1, 2], **flags)


@_SETTINGS
@given(
    batch=st.integers(1, 3),
    frame=st.sampled_from((4, 9, 16, 66, 128)),
    hop=st.integers(1, 40),
    window=st.booleans(),
    onesided=st.booleans(),
    seed=_SEEDS,
)
def test_stft(batch: int, frame: int, hop: int, window: bool, onesided: bool, seed: int) -> None:
    samples = frame + 3 * hop + 1
    x = _random(seed, np.float32, batch, samples, 1)
    w = _random(seed + 1, np.float32, frame) if window else None
    starts = range(0, samples - frame + 1, hop)
    frames = np.stack([x[:, s : s + frame, 0].astype(np.float64) for s in starts], 1)
    y = np.fft.fft(frames if w is None else frames * w)
    y = y[..., : frame // 2 + 1] if onesided else y
    inputs = [x, np.array(hop, np.int64), w, np.array(frame, np.int64)]
    expected = np.stack([y.real, y.imag], -1).astype(np.float32)
    _check("STFT", inputs, [expected], constant=[1, 3], onesided=int(onesided))
