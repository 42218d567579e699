"""One package at every size: models with bounded symbolic dimensions on Dawn, against ONNX Runtime CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx import numpy_helper

from webinfer.compile import back_stages, compile_model, front_stages
from webinfer.feeds import samples_of
from webinfer.manifest import Manifest
from webinfer.reference import Reference
from webinfer.session import DeviceSession, HostError
from webinfer.symbols import Symbol
from webinfer.tiers import all_tiers

TIERS = {"dawn-lavapipe": ["fp32-register", "fp32-workgroup"], "dawn-swiftshader": ["fp32-register"]}

# Causal attention over past and present keys: positions by Range, the mask by Less, ConstantOfShape and Where.
TRANSFORMER = """
<ir_version: 10, opset_import: ["" : 18]>
block (int64[batch, seq] ids, float[batch, 2, past, 8] past_k, float[batch, 2, past, 8] past_v)
  => (float y, float present_k, float present_v)
<int64[1] zero = {0}, int64[1] one = {1}, int64 i0 = {0}, int64 i1 = {1}, int64 i2 = {2}, int64[1] rest = {-1},
 int64[1] heads = {2}, int64[1] width = {16}, float low = {-1e30}, float scale = {0.35355339}>
{
  sp = Shape(past_k)
  si = Shape(ids)
  past_len = Gather(sp, i2)
  seq_len = Gather(si, i1)
  batch_len = Gather(si, i0)
  total = Add(past_len, seq_len)
  b1 = Unsqueeze(batch_len, zero)
  s1 = Unsqueeze(seq_len, zero)
  t1 = Unsqueeze(total, zero)
  embedded = Gather(table, ids)
  pos = Range(past_len, total, i1)
  placed = Gather(positions, pos)
  h = Add(embedded, placed)
  qkv = MatMul(h, wqkv)
  q0, k0, v0 = Split <axis = 2, num_outputs = 3> (qkv)
  split = Concat <axis = 0> (b1, s1, heads, rest)
  q1 = Reshape(q0, split)
  k1 = Reshape(k0, split)
  v1 = Reshape(v0, split)
  q = Transpose <perm = [0, 2, 1, 3]> (q1)
  k = Transpose <perm = [0, 2, 1, 3]> (k1)
  v = Transpose <perm = [0, 2, 1, 3]> (v1)
  present_k = Concat <axis = 2> (past_k, k)
  present_v = Concat <axis = 2> (past_v, v)
  kt = Transpose <perm = [0, 1, 3, 2]> (present_k)
  scores = MatMul(q, kt)
  scaled = Mul(scores, scale)
  keys = Range(i0, total, i1)
  rows = Unsqueeze(pos, one)
  columns = Unsqueeze(keys, zero)
  hidden = Less(rows, columns)
  mask_shape = Concat <axis = 0> (b1, one, s1, t1)
  open = ConstantOfShape(mask_shape)
  mask = Where(hidden, low, open)
  masked = Add(scaled, mask)
  weights = Softmax <axis = -1> (masked)
  mixed = MatMul(weights, present_v)
  turned = Transpose <perm = [0, 2, 1, 3]> (mixed)
  joined = Concat <axis = 0> (b1, s1, width)
  o = Reshape(turned, joined)
  projected = MatMul(o, wo)
  y = Add(projected, h)
}
"""

# The operator that exporters write now.
ATTENTION = """
<ir_version: 10, opset_import: ["" : 23]>
attention (float[batch, seq, 16] q, float[batch, seq, 16] k, float[batch, seq, 16] v,
           float[batch, 2, past, 8] past_k, float[batch, 2, past, 8] past_v)
  => (float y, float present_k, float present_v)
{
  y, present_k, present_v = Attention <q_num_heads = 2, kv_num_heads = 2, is_causal = 1> (q, k, v, , past_k, past_v)
}
"""

# Down and up again, by a factor and to given sizes, with a skip connection: holds only where heights are even.
UNET = """
<ir_version: 10, opset_import: ["" : 18]>
unet (float[batch, 3, height, width] x) => (float y)
<float[4] twice = {1, 1, 2, 2}, int64[1] two = {2}, int64[1] four = {4}, int64[1] zero = {0}>
{
  a0 = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w1)
  a = Relu(a0)
  d0 = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (a, w2)
  d = Relu(d0)
  n = InstanceNormalization(d, gain, bias)
  u = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (n, , twice)
  full = Shape(a)
  image = Slice(full, two, four, zero)
  small = Shape(n)
  planes = Slice(small, zero, two, zero)
  sizes = Concat <axis = 0> (planes, image)
  r = Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (n, , , sizes)
  s = Add(u, r)
  c = Concat <axis = 1> (s, a)
  e = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (c, w3)
  g = Sigmoid(e)
  f = Mul(e, g)
  y = Conv <kernel_shape = [1, 1]> (f, w4)
}
"""

# Sizes that are 1 at one end of their bounds broadcast there; shape tensors as numbers and as outputs.
BROADCAST = """
<ir_version: 10, opset_import: ["" : 18]>
broadcast (float[n, 8] a, float[m, 8] b, float[n, 1, m] c, float[3, k] d)
  => (float sum, float product, float wide, float mean, int64 shape, float spread)
<int64[3] to = {3, 1, 5}, int64[1] last = {-1}, int64[1] zero = {0}, int64[2] target = {3, 8}, int64 i0 = {0}>
{
  sum = Add(a, b)
  wide = Expand(c, to)
  joined = Mul(a, b)
  product = Neg(joined)
  shape = Shape(c)
  count = Gather(shape, i0)
  real = Cast <to = 1> (count)
  total = ReduceSum <keepdims = 0> (a, zero)
  mean = Div(total, real)
  expanded = Expand(d, target)
  spread = Exp(expanded)
}
"""

# Places that count from the end, lengths that are read from another input, padding up to a multiple.
MOVEMENT = """
<ir_version: 10, opset_import: ["" : 18]>
movement (float[rows, length] x, float[used, 4] y)
  => (float head, float tail, float tiled, float padded, float other, float flipped, int64 counted)
<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus_one = {-1}, int64[1] minus_two = {-2},
 int64[1] end = {9223372036854775807}, int64[1] start = {-9223372036854775808}, int64[1] eight = {8}, int64 i0 = {0},
 int64 i1 = {1}, int64[3] none = {0, 0, 0}>
{
  sy = Shape(y)
  used = Slice(sy, zero, one, zero)
  head = Slice(x, zero, used, one)
  tail = Slice(x, minus_two, end, one)
  flipped = Slice(x, minus_one, start, one, minus_one)
  repeats = Concat <axis = 0> (used, two)
  tiled = Tile(x, repeats)
  sx = Shape(x)
  length = Slice(sx, one, two, zero)
  over = Mod(length, eight)
  missing = Sub(eight, over)
  extra = Mod(missing, eight)
  pads = Concat <axis = 0> (none, extra)
  padded = Pad(x, pads)
  other = Transpose <perm = [1, 0]> (y)
  limit = Squeeze(length)
  counted = Range(i0, limit, i1)
}
"""

# Reading and writing at given positions, in one and in several dispatches; what sorts and what generates.
INDEXING = """
<ir_version: 10, opset_import: ["" : 20]>
indexing (float[rows, 12] x, int64[rows, n] ids, float[rows, n] u, float[rows, n, rows] v)
  => (float elements, float columns, float sums, float best, int64 places, float upper, int64 hot, float many,
      float slices, float added)
<int64[3] few = {0, -1, 5}, int64[1] three = {3}, int64 twelve = {12}, int64[2] values = {7, -7}, int64[1] two = {2}>
{
  elements = GatherElements <axis = 1> (x, ids)
  columns = Gather <axis = 1> (x, few)
  sums = ScatterElements <axis = 1, reduction = "add"> (x, ids, u)
  best, places = TopK <axis = 1> (x, three)
  upper = Trilu(x)
  hot = OneHot <axis = 1> (ids, twelve, values)
  many = Concat <axis = 0> (x, x, x, x, x, x, x, x, x)
  single = Unsqueeze(ids, two)
  slices = GatherND <batch_dims = 1> (x, single)
  turned = Transpose(x)
  added = ScatterND <reduction = "add"> (turned, single, v)
}
"""

# Recurrent layers, quantized and fused products, spectra.
VOICE = """
<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1]>
voice (float[batch, seq, 12] x, float[batch, 200, 1] signal)
  => (float l, float lh, float lc, float g, float gh, float e, float n, float f, float spectrum)
<int64 hop = {30}, int64 frame = {128},
 uint8[2, 1, 8] wq = {3, 141, 59, 26, 53, 58, 97, 93, 238, 46, 26, 43, 38, 32, 7, 250}>
{
  xt = Transpose <perm = [1, 0, 2]> (x)
  l, lh, lc = LSTM <hidden_size = 5, direction = "bidirectional"> (xt, w, r, b)
  g, gh = GRU <hidden_size = 5> (xt, wg, rg)
  e = Einsum <equation = "bsd,btd->bst"> (x, x)
  n = com.microsoft.MatMulNBits <K = 12, N = 2, bits = 4, block_size = 16> (x, wq, ws)
  f = com.microsoft.FusedMatMul <transB = 1> (x, x)
  spectrum = STFT <onesided = 1> (signal, hop, , frame)
}
"""

MODELS: dict[str, tuple[str, list[Symbol], dict[str, tuple[int, ...]]]] = {
    "transformer": (
        TRANSFORMER,
        [Symbol("batch", 1, 2), Symbol("seq", 1, 16), Symbol("past", 0, 16)],
        {"table": (11, 16), "positions": (64, 16), "wqkv": (16, 48), "wo": (16, 16)},
    ),
    "attention": (ATTENTION, [Symbol("batch", 1, 3), Symbol("seq", 1, 9), Symbol("past", 0, 13)], {}),
    "unet": (
        UNET,
        [Symbol("batch", 1, 2), Symbol("height", 4, 32), Symbol("width", 4, 32, 4)],
        {
            "w1": (8, 3, 3, 3),
            "w2": (16, 8, 3, 3),
            "w3": (8, 24, 3, 3),
            "w4": (3, 8, 1, 1),
            "gain": (16,),
            "bias": (16,),
        },
    ),
    "broadcast": (BROADCAST, [Symbol("n", 1, 3), Symbol("m", 1, 5), Symbol("k", 1, 8)], {}),
    "voice": (
        VOICE,
        [Symbol("batch", 1, 3), Symbol("seq", 1, 9)],
        {"w": (2, 20, 12), "r": (2, 20, 5), "b": (2, 40), "wg": (1, 15, 12), "rg": (1, 15, 5), "ws": (2, 1)},
    ),
    "indexing": (INDEXING, [Symbol("rows", 1, 5), Symbol("n", 1, 9)], {}),
    "movement": (MOVEMENT, [Symbol("rows", 1, 5), Symbol("length", 3, 21), Symbol("used", 0, 6)], {}),
}
# Beside the largest, the smallest and odd sizes between, which `samples_of` gives where they meet the constraints.
CORNERS: dict[str, list[dict[str, int]]] = {
    "transformer": [{"batch": 2, "seq": 1, "past": 15}, {"batch": 1, "seq": 16, "past": 0}],
    "attention": [{"batch": 1, "seq": 1, "past": 12}, {"batch": 2, "seq": 9, "past": 0}],
    "unet": [{"batch": 1, "height": 6, "width": 28}, {"batch": 2, "height": 30, "width": 4}],
    "broadcast": [
        {"n": 3, "m": 1, "k": 1},
        {"n": 1, "m": 5, "k": 8},
        {"n": 1, "m": 1, "k": 8},
        {"n": 3, "m": 1, "k": 8},
        {"n": 1, "m": 5, "k": 1},
    ],
    "voice": [{"batch": 3, "seq": 1}, {"batch": 1, "seq": 9}],
    "indexing": [{"rows": 4, "n": 1}, {"rows": 1, "n": 9}],
    "movement": [{"rows": 3, "length": 8, "used": 3}, {"rows": 1, "length": 20, "used": 0}],
}


def _source(name: str) -> onnx.ModelProto:
    text, _, shapes = MODELS[name]
    model = onnx.parser.parse_model(text)
    rng = np.random.default_rng(0)
    for weight, shape in shapes.items():
        array = (rng.standard_normal(shape) * 0.3).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, weight))
    return model


def _package(name: str, tier: str) -> dict[str, bytes]:
    model = ir.serde.deserialize_model(_source(name))
    for stage in [*front_stages({s.name: s for s in MODELS[name][1]}), *back_stages("fp32")]:
        stage.run(model)
    return compile_model(model, [all_tiers()[tier]])


def _feeds(model: onnx.ModelProto, sizes: dict[str, int]) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    rng = np.random.default_rng(1)
    feeds: dict[str, np.ndarray[Any, np.dtype[Any]]] = {}
    for value in model.graph.input:
        shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            feeds[value.name] = rng.standard_normal(shape).astype(np.float32)
        else:
            feeds[value.name] = rng.integers(0, 11, shape)
    return feeds


@pytest.fixture(scope="module", params=list(TIERS))
def session(request: pytest.FixtureRequest) -> Iterator[DeviceSession]:
    with DeviceSession(request.param) as running:
        yield running


@pytest.mark.parametrize("name", MODELS)
def test_every_size_agrees_with_onnx_runtime(session: DeviceSession, name: str) -> None:
    source = _source(name)
    reference = Reference(source)
    for tier in TIERS[session.device.id]:
        files = _package(name, tier)
        component = Manifest.model_validate_json(files["manifest.json"]).components[0]
        model = session.load(files, tier)
        choices = [*samples_of(component), *CORNERS[name]]
        held: list[int] = []
        for sizes in [*choices, *reversed(choices)]:
            feeds = _feeds(source, sizes)
            found = model.run(feeds).outputs
            held.append(session.memory()["bytes"])
            for output, expected in reference.run(feeds).items():
                assert found[output].shape == expected.shape, (tier, sizes, output)
                difference = np.abs(found[output].astype(np.float64) - expected.astype(np.float64))
                error = float(np.max(difference / (1.0 + np.abs(expected)), initial=0.0))
                assert error <= 2e-5, (tier, sizes, output, error)
        model.dispose()
        # Read-back buffers are made for the largest outputs first; after that nothing grows.
        assert held[-1] == held[len(choices)], (tier, held)


def test_sizes_that_do_not_fit_are_named(session: DeviceSession) -> None:
    source, files = _source("unet"), _package("unet", "fp32-register")
    model = session.load(files, "fp32-register")
    cases = [
        ({"batch": 3, "height": 8, "width": 8}, "axis 0 of input x (batch) is 3; expected a size from 1 to 2"),
        ({"batch": 1, "height": 8, "width": 6}, "(width) is 6; expected a multiple of 4 from 4 to 32"),
        ({"batch": 1, "height": 7, "width": 8}, "needs 2 * ((height + 1) // 2) = height"),
    ]
    for sizes, text in cases:
        with pytest.raises(HostError) as caught:
            model.run(_feeds(source, sizes))
        assert caught.value.code == "input-shape"
        assert text in str(caught.value)
    # What was refused left nothing behind.
    feeds = _feeds(source, {"batch": 1, "height": 8, "width": 8})
    assert np.isfinite(model.run(feeds).outputs["y"]).all()
    model.dispose()
