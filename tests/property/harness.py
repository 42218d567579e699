"""Compares webinfer on a device with ONNX Runtime CPU, and prints a case that differs as a program to run.

Hypothesis shrinks a failing case, so the program that it prints last is the smallest found.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper, reference

from webinfer import onnx_backend
from webinfer.errors import SourceError
from webinfer.reference import run_reference

DEVICE = "dawn-lavapipe"
OPSET = 23
# Allowed |difference| / (1 + |expected|): f32 sums of some terms in another order, one rounding of f16.
TOLERANCE = {"float32": 2e-5, "float16": 1e-3}
# Larger arrays are printed as bytes.
_LISTED = 200

Array = np.ndarray[Any, np.dtype[Any]]


def check(
    model: onnx.ModelProto,
    feeds: Mapping[str, Array],
    *,
    device: str = DEVICE,
    expected: Mapping[str, Array] | None = None,
    fusions: bool = True,
    tolerance: float | None = None,
) -> None:
    """Assert that `model` gives on `device` what ONNX Runtime gives, or `expected` where that is given.

    Integers and truth values are equal, floats within `tolerance` (None: TOLERANCE of their type), and others than
    finite values the same in the same places. onnx.reference stands in where ONNX Runtime has no kernel. Raises
    AssertionError with the program.
    """
    wanted = dict(expected) if expected is not None else reference_outputs(model, feeds)
    for output in model.graph.output:
        if output.type.WhichOneof("value") is None:  # of an operator that ONNX's inference does not know
            output.CopyFrom(_info(output.name, wanted[output.name]))
    try:
        found = run(model, feeds, device=device, fusions=fusions)
    except Exception as fault:
        raise AssertionError(f"{type(fault).__name__}: {fault}\n\n{program(model, feeds, device)}") from fault
    faults = [line for name in wanted if (line := difference(wanted[name], found[name], tolerance)) is not None]
    if faults:
        results = "\n".join(f"# {n}: expected {wanted[n].ravel()}, found {found[n].ravel()}" for n in wanted)
        raise AssertionError("\n".join(faults) + f"\n\n{program(model, feeds, device)}\n{results}")


def check_node(op_type: str, inputs: Sequence[Array | None], *, device: str = DEVICE, **options: Any) -> None:
    """`check` on the model that `node_model` makes of the rest."""
    model, feeds = node_model(op_type, inputs, **options)
    check(model, feeds, device=device)


def node_model(
    op_type: str,
    inputs: Sequence[Array | None],
    *,
    constant: Sequence[int] = (),
    outputs: int = 1,
    domain: str = "",
    opset: int = OPSET,
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of one node `y0, ... = op_type(x0, ...)` and its feeds.

    inputs: None for an omitted one; `constant`: positions of those that are initializers.
    """
    names = [f"x{k}" if array is not None else "" for k, array in enumerate(inputs)]
    arrays = {name: array for name, array in zip(names, inputs, strict=True) if array is not None}
    fixed = {names[k] for k in constant}
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op_type, names, results, domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        op_type,
        [_info(name, array) for name, array in arrays.items() if name not in fixed],
        [onnx.ValueInfoProto(name=name) for name in results],
        [numpy_helper.from_array(array, name) for name, array in arrays.items() if name in fixed],
    )
    imports = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    return typed(model), {name: array for name, array in arrays.items() if name not in fixed}


def typed(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the types that inference gives its outputs."""
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def run(
    model: onnx.ModelProto, feeds: Mapping[str, Array], *, device: str = DEVICE, fusions: bool = True
) -> dict[str, Array]:
    """Outputs by name on a device. fusions: whether operators may be recognised and merged."""
    prepared = onnx_backend.prepare(model, device, fusions=fusions)
    return dict(zip((v.name for v in model.graph.output), prepared.run(feeds), strict=True))


def reference_outputs(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs of ONNX Runtime CPU, node by node as written, or of onnx.reference where it has no kernel."""
    try:
        return run_reference(model, feeds, plain=True)
    except SourceError as fault:
        if "NOT_IMPLEMENTED" not in str(fault):
            raise
        names = [v.name for v in model.graph.output]
        with np.errstate(all="ignore"):
            values = reference.ReferenceEvaluator(model).run(names, dict(feeds))
        return {name: np.asarray(value) for name, value in zip(names, values, strict=True)}


def difference(expected: Array, found: Array, tolerance: float | None = None) -> str | None:
    """What differs, in a line; None where the results agree. tolerance: as for `check`."""
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return f"expected {expected.dtype}{list(expected.shape)}, found {found.dtype}{list(found.shape)}"
    allowed = TOLERANCE.get(expected.dtype.name)
    if allowed is None:
        wrong = expected != found
    else:
        a, b = expected.astype(np.float64), found.astype(np.float64)
        finite = np.isfinite(a)
        same = np.where(np.isnan(a), np.isnan(b), a == b)
        with np.errstate(invalid="ignore"):
            close = np.abs(a - b) <= (tolerance or allowed) * (1.0 + np.abs(a))
        wrong = ~np.where(finite & np.isfinite(b), close, same)
    if not wrong.any():
        return None
    place = tuple(int(k) for k in np.argwhere(wrong)[0])
    return (
        f"{int(wrong.sum())} of {wrong.size} differ, first at {place}: expected {expected[place]}, found {found[place]}"
    )


def program(model: onnx.ModelProto, feeds: Mapping[str, Array], device: str = DEVICE) -> str:
    """Python that runs the case again on `device` and on ONNX Runtime."""
    lines = [
        "import base64",
        "import ml_dtypes",
        "import numpy as np",
        "import onnx.parser",
        "from tests.property.harness import reference_outputs, run",
        f"model = {_model_code(model)}",
        "feeds = {",
        *(f"    {name!r}: {_array_code(array)}," for name, array in feeds.items()),
        "}",
        f"print(run(model, feeds, device={device!r}))",
        "print(reference_outputs(model, feeds))",
    ]
    return "\n".join(lines)


def _model_code(model: onnx.ModelProto) -> str:
    """ONNX's text where it says everything, else bytes below the text."""
    text = onnx.printer.to_text(model)
    try:
        exact = onnx.parser.parse_model(text).SerializeToString() == model.SerializeToString()
    except onnx.parser.ParseError:
        exact = False
    if exact:
        return f'onnx.parser.parse_model("""\n{text}\n""")'
    comment = "\n".join(f"# {line}" for line in text.splitlines())
    packed = base64.b85encode(model.SerializeToString()).decode()
    return f"onnx.load_model_from_string(base64.b85decode({packed!r}))\n{comment}"


def _array_code(array: Array) -> str:
    dtype = array.dtype.name
    if array.dtype.kind == "V" or dtype.startswith(("int4", "uint4", "int2", "uint2", "bfloat16")):
        dtype = f"ml_dtypes.{dtype}"
    else:
        dtype = "bool" if dtype == "bool" else f"np.{dtype}"
    if array.size <= _LISTED:
        values = ", ".join(_number(v) for v in array.ravel().tolist())
        return f"np.array([{values}], {dtype}).reshape({array.shape})"
    return f"np.frombuffer(bytes.fromhex({array.tobytes().hex()!r}), {dtype}).reshape({array.shape})"


def _number(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _info(name: str, array: Array) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
