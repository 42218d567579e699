"""ONNX's backend interface on WebGPU: `onnx.backend.test.BackendTest(webinfer.onnx_backend, __name__)` runs as it is.

Devices are the ids of `webinfer devices`; "CPU", which ONNX's own tests ask for, is the one that $WEBINFER_DEVICE
names, by default dawn-lavapipe. A model is compiled at its first run, when the shapes of its inputs are known, and once
more for every other set of shapes and of values that decide shapes.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx.backend.base import Backend, BackendRep

from webinfer.compile import PackageFiles, compile_in_memory
from webinfer.devices import all_devices
from webinfer.errors import DeviceError, InputError
from webinfer.passes.specialise import deciding_inputs
from webinfer.session import DeviceSession, LoadedModel

DEFAULT_DEVICE = "dawn-lavapipe"

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Specialised:
    """A model compiled for the shapes of its inputs and the values of those that decide shapes."""

    files: PackageFiles
    outputs: dict[str, np.dtype[Any]]  # as the source declares them

    def load(self, session: DeviceSession) -> LoadedModel:
        """Load it on a device."""
        return session.load(self.files.files, shared=True)

    def run(self, loaded: LoadedModel, feeds: Mapping[str, Array]) -> tuple[Array, ...]:
        """Outputs in the order and the element types of the source."""
        sent = {spec.name: feeds[spec.name].astype(spec.dtype, copy=False) for spec in self.files.inputs}
        found = loaded.run(sent).outputs
        return tuple(found[name].astype(dtype, copy=False) for name, dtype in self.outputs.items())


class SourceModel:
    """A model as it was given, and how it is specialised."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        self._proto = proto
        initialized = {t.name for t in proto.graph.initializer}
        self._inputs = [v for v in proto.graph.input if v.name not in initialized]
        self._deciding = deciding_inputs(ir.serde.deserialize_model(proto))
        self._outputs = {v.name: _declared(v) for v in proto.graph.output}

    def feeds(self, inputs: Array | Sequence[Any] | Mapping[str, Any]) -> dict[str, Array]:
        """Arrays by name, in the declared element types. Raises InputError for a wrong number of inputs."""
        if not isinstance(inputs, Mapping):
            given = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
            if len(given) != len(self._inputs):
                names = ", ".join(v.name for v in self._inputs) or "none"
                raise InputError(
                    f"model {self._proto.graph.name!r}: expected inputs {names}, found {len(given)} arrays"
                )
            inputs = dict(zip((v.name for v in self._inputs), given, strict=True))
        return {v.name: np.asarray(inputs[v.name]).astype(_declared(v), copy=False) for v in self._inputs}

    def key(self, feeds: Mapping[str, Array]) -> str:
        """Equal for inputs that one specialisation serves."""
        digest = hashlib.sha256()
        for name, array in feeds.items():
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            if name in self._deciding:
                digest.update(array.tobytes())
        return digest.hexdigest()

    def specialise(self, feeds: Mapping[str, Array], *, fusions: bool = True) -> Specialised:
        """Compile for the shapes of `feeds` and the values of those that decide shapes."""
        values = {name: array for name, array in feeds.items() if name in self._deciding}
        shapes = {name: array.shape for name, array in feeds.items()}
        files = compile_in_memory(ir.serde.deserialize_model(self._proto), shapes, values, fusions=fusions)
        return Specialised(files, self._outputs)


class WebGpuRep(BackendRep):
    """A prepared model; everything that it loaded on the device is freed with it."""

    def __init__(self, proto: onnx.ModelProto, device: str, *, fusions: bool = True) -> None:
        self._source = SourceModel(proto)
        self._fusions = fusions
        self._session = session(device)
        self._loaded: dict[str, tuple[Specialised, LoadedModel]] = {}
        weakref.finalize(self, _free, self._loaded)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Array, ...]:
        """Outputs for `inputs`: arrays in the model's order, or by name."""
        feeds = self._source.feeds(inputs)
        key = self._source.key(feeds)
        if key not in self._loaded:
            compiled = self._source.specialise(feeds, fusions=self._fusions)
            self._loaded[key] = (compiled, compiled.load(self._session))
        compiled, loaded = self._loaded[key]
        return compiled.run(loaded, feeds)


class WebGpuBackend(Backend):
    """Runs ONNX models through WebGPU."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = DEFAULT_DEVICE, **kwargs: Any) -> WebGpuRep:
        """A model ready to run. kwargs: `fusions=False` gives every node a kernel of its own.

        Raises onnx.checker.ValidationError for a model that is not valid.
        """
        super().prepare(model, device, **kwargs)
        return WebGpuRep(model, _device_id(device), fusions=bool(kwargs.get("fusions", True)))

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: Any, device: str = DEFAULT_DEVICE, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Prepare and run once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = DEFAULT_DEVICE,
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node. kwargs: opset_version, by default the newest; element types of outputs are inferred."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        arrays = [np.asarray(array) for array in inputs]
        named = [name for name in node.input if name]
        values = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(named, arrays, strict=True)
        ]
        opset = int(kwargs.get("opset_version", onnx.defs.onnx_opset_version()))
        results = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], node.op_type, values, results)
        imports = [onnx.helper.make_opsetid("", opset)]
        if node.domain:
            imports.append(onnx.helper.make_opsetid(node.domain, 1))
        model = onnx.shape_inference.infer_shapes(onnx.helper.make_model(graph, opset_imports=imports))
        return WebGpuRep(model, _device_id(device)).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `device` is one of `webinfer devices`, or "CPU"."""
        return device == "CPU" or device in all_devices()


prepare = WebGpuBackend.prepare
run_model = WebGpuBackend.run_model
run_node = WebGpuBackend.run_node
supports_device = WebGpuBackend.supports_device
is_compatible = WebGpuBackend.is_compatible

_SESSIONS: dict[str, DeviceSession] = {}


def session(device: str) -> DeviceSession:
    """The one session of this process on a device; it ends with the process, and starts anew after a crash."""
    running = _SESSIONS.get(device)
    if running is None or not running.alive:
        running = _SESSIONS[device] = DeviceSession(device)
        running.start()
    return running


@atexit.register
def _close_sessions() -> None:
    while _SESSIONS:
        _SESSIONS.popitem()[1].close()


def _device_id(device: str) -> str:
    return os.environ.get("WEBINFER_DEVICE", DEFAULT_DEVICE) if device == "CPU" else device


def _free(loaded: dict[str, tuple[Specialised, LoadedModel]]) -> None:
    for _, model in loaded.values():
        if model.session.alive:
            try:
                model.dispose()
            except DeviceError:
                return


def _declared(value: onnx.ValueInfoProto) -> np.dtype[Any]:
    """Element type of an input or output. Raises InputError where it is no tensor."""
    if not value.type.HasField("tensor_type"):
        raise InputError(f"{value.name!r} is a {value.type.WhichOneof('value')}; expected a tensor")
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
