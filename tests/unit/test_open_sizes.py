"""Open sizes in the compiler: bounds of inputs, inferred shapes, shape tensors, constraints, and what is refused."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnx_ir as ir
import pytest

from webinfer.commands.export import symbol_name
from webinfer.compile import compile_model, front_stages
from webinfer.dims import constraints_of
from webinfer.errors import InputError, SourceError, UnsupportedError
from webinfer.feeds import samples_of, sizes_given
from webinfer.manifest import Component, Manifest
from webinfer.passes.finish import Finish
from webinfer.passes.fix_dims import FixDims
from webinfer.symbols import Symbol
from webinfer.tiers import all_tiers

SEQ, PAST = Symbol("seq", 1, 16), Symbol("past", 0, 8)


def _model(signature: str, body: str) -> ir.Model:
    return ir.serde.deserialize_model(
        onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> graph {signature} {{ {body} }}')
    )


def _compiled(signature: str, body: str, *symbols: Symbol) -> tuple[ir.Model, Component]:
    model = _model(signature, body)
    for stage in [*front_stages({s.name: s for s in symbols}), Finish()]:
        stage.run(model)
    manifest = Manifest.model_validate_json(compile_model(model, [all_tiers()["fp32-register"]])["manifest.json"])
    return model, manifest.components[0]


def _output(signature: str, body: str, *symbols: Symbol) -> str:
    """The shape of the only output, as the package declares it."""
    (output,) = _compiled(signature, body, *symbols)[1].outputs
    return ", ".join(map(str, output.shape))


def _masked(*dims: str | int) -> ir.Model:
    """A model with a mask whose last dimension is an expression, and an input of the given dimensions."""
    model = _model("(float[batch, total] m, float[1] x) => (float y)", "y = Neg(m)")
    model.graph.inputs[0].shape = ir.Shape(["batch", "past + seq"])
    model.graph.inputs[1].shape = ir.Shape(dims)
    return model


def test_dimensions_of_inputs_take_bounds() -> None:
    model = _masked("seq", "past")
    FixDims({"batch": 2, "seq": SEQ, "past": PAST}).run(model)
    assert [str(v.shape) for v in model.graph.inputs] == ["[2,past + seq]", "[seq,past]"]


def test_a_size_that_no_input_has_alone_is_refused() -> None:
    with pytest.raises(SourceError, match="--dim past: no input has this size as a dimension of its own"):
        FixDims({"batch": 2, "seq": SEQ, "past": PAST}).run(_masked("seq", 4))


def test_names_become_identifiers() -> None:
    assert symbol_name("batch_size", {}) == "batch_size"
    assert symbol_name("x:1", {}) == "x_1"
    assert symbol_name("max", {}) == "size_max"
    assert symbol_name("2d", {"x": Symbol("size_2d", 1, 2)}) == "size_2d_2"


@pytest.mark.parametrize(
    ("signature", "body", "shape"),
    [
        ("(float[seq, 4] x) => (float y)", "y = Transpose <perm = [1, 0]> (x)", "4, seq"),
        # Never what a slice would give at the largest size alone.
        (
            "(float[seq] x) => (float y) <int64[1] a = {1}, int64[1] b = {5}, int64[1] z = {0}>",
            "y = Slice(x, a, b, z)",
            "min(5, seq) - 1",
        ),
        (
            "(float[seq] x) => (float y) <int64[1] a = {-3}, int64[1] b = {9223372036854775807}, int64[1] z = {0}>",
            "y = Slice(x, a, b, z)",
            "-max(0, seq - 3) + seq",
        ),
        ("(float[1, 1, seq] x) => (float y)", "y = MaxPool <kernel_shape = [2], strides = [2]> (x)", "1, 1, seq // 2"),
        (
            "(float[1, 1, seq] x) => (float y)",
            "y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (x)",
            "1, 1, (seq + 1) // 2",
        ),
        ("(float[seq, 6] x) => (float y) <int64[2] to = {-1, 3}>", "y = Reshape(x, to)", "2 * seq, 3"),
        ("(float[seq, 6] x) => (float y) <int64[3] to = {0, 2, -1}>", "y = Reshape(x, to)", "seq, 2, 3"),
        # What exporters write for expand: -1 keeps a dimension.
        (
            (
                "(float[seq, 1] x) => (float y)"
                " <int64[1] n4 = {4}, int64[1] no = {-1}, int64[1] n1 = {1}, int64[1] z = {0}>"
            ),
            """s = Shape(x) n = Slice(s, z, n1, z) t = Concat <axis = 0> (n, n4) k = Equal(t, no)
               u = Where(k, n1, t) y = Expand(x, u)""",
            "seq, 4",
        ),
        (
            "(float[seq, 3] x) => (float y)",
            "s = Shape(x) p = ReduceProd <keepdims = 1> (s) y = Reshape(x, p)",
            "3 * seq",
        ),
        (
            "(float[1, 2, seq] x) => (float y) <float[3] s = {1, 1, 0.5}>",
            'y = Resize <mode = "nearest"> (x, , s)',
            "1, 2, seq // 2",
        ),
    ],
)
def test_shapes_are_expressions(signature: str, body: str, shape: str) -> None:
    assert _output(signature, body, SEQ) == shape


def test_multiples_keep_divisions_exact() -> None:
    width = Symbol("width", 8, 64, 8)
    body = 'd = MaxPool <kernel_shape = [2], strides = [2]> (x) u = Resize <mode = "nearest"> (d, , s) y = Add(u, x)'
    model, component = _compiled("(float[1, 1, width] x) => (float y) <float[3] s = {1, 1, 2}>", body, width)
    assert component.outputs[0].shape == [1, 1, "width"]
    assert not constraints_of(model)


def test_what_fits_only_at_some_sizes_is_a_constraint() -> None:
    body = 'd = MaxPool <kernel_shape = [2], strides = [2]> (x) u = Resize <mode = "nearest"> (d, , s) y = Add(u, x)'
    _, component = _compiled("(float[1, 2, seq] x) => (float y) <float[3] s = {1, 1, 2}>", body, Symbol("seq", 4, 16))
    (constraint,) = component.constraints
    assert constraint.text.endswith("(ai.onnx::Add) needs 2 * (seq // 2) = seq")
    assert all(sizes["seq"] % 2 == 0 for sizes in samples_of(component))
    with pytest.raises(InputError, match="the inputs have seq = 7, but"):
        sizes_given(component, {"x": np.zeros((1, 2, 7), np.float32)})


def test_sizes_of_feeds_are_checked() -> None:
    signature = "(float[seq, 4] x, float[seq, past] p) => (float y)"
    _, component = _compiled(signature, "y = Concat <axis = 1> (x, p)", SEQ, PAST)
    x, p = np.zeros((3, 4), np.float32), np.zeros((3, 0), np.float32)
    assert sizes_given(component, {"x": x, "p": p}) == {"seq": 3, "past": 0}
    with pytest.raises(InputError, match=r"input p, axis 0 \(seq\): expected 3, as other inputs have it, found 2"):
        sizes_given(component, {"x": x, "p": p[:2]})
    with pytest.raises(InputError, match=r"axis 0 \(seq\): expected a size from 1 to 16, found 17"):
        sizes_given(component, {"x": np.zeros((17, 4), np.float32), "p": p})


def test_what_needs_a_fixed_size_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"Det\(float32\[seq, seq\]\): .*fix the size with --dim"):
        _compiled("(float[seq, seq] x) => (float y)", "y = Det(x)", SEQ)


def test_the_portable_model_keeps_its_dimensions() -> None:
    model = _model("(float[seq, 4] x, float[past, 4] p) => (float y)", "y = Concat <axis = 0> (p, x)")
    for stage in [*front_stages({"seq": SEQ, "past": PAST}), Finish()]:
        stage.run(model)
    files = compile_model(model, [all_tiers()["fp32-register"]])
    graph = onnx.load_model_from_string(files["model.onnx"]).graph
    dims = [d.dim_param or d.dim_value for v in (*graph.input, *graph.output) for d in v.type.tensor_type.shape.dim]
    assert dims == ["seq", 4, "past", 4, "past + seq", 4]


def test_shape_tensors_take_no_dispatch() -> None:
    body = "s = Shape(x) n = Gather(s, i) f = Cast <to = 1> (n) y = Div(x, f)"
    _, component = _compiled("(float[seq, 4] x) => (float y) <int64 i = {0}>", body, SEQ)
    kernels = [d.kernel.rpartition("_")[0] for d in component.programs[0].dispatches]
    assert kernels == ["integers", "pointwise"]
