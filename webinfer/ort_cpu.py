"""ONNX files on ONNX Runtime CPU: what verification compares devices with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from webinfer.errors import SourceError

Array = np.ndarray[Any, np.dtype[Any]]


class Reference:
    """One ONNX file and its session."""

    def __init__(self, path: Path) -> None:
        """Raises SourceError where ONNX Runtime cannot load the file."""
        self.path = path
        try:
            self._session = onnxruntime.InferenceSession(str(path), _options(), providers=["CPUExecutionProvider"])
        except Exception as fault:
            raise SourceError(f"{path}: ONNX Runtime cannot load it: {_first_line(fault)}; export it again") from fault

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name; feeds are cast to the element types of the file's inputs."""
        sent = self.cast(feeds)
        try:
            values = self._session.run(None, sent)
        except Exception as fault:
            raise SourceError(f"{self.path}: ONNX Runtime cannot run it: {_first_line(fault)}") from fault
        return {o.name: np.asarray(v) for o, v in zip(self._session.get_outputs(), values, strict=True)}

    def cast(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Feeds in the element types of the file's inputs. Raises SourceError where the names differ."""
        wanted = {i.name: np.dtype(_NUMPY_TYPES.get(i.type, "float32")) for i in self._session.get_inputs()}
        unknown, missing = set(feeds) - set(wanted), set(wanted) - set(feeds)
        if unknown or missing:
            raise SourceError(
                f"{self.path}: expected inputs {', '.join(sorted(wanted))}, found {', '.join(sorted(feeds))}; "
                "compare with the file that the package was made from"
            )
        return {name: array.astype(wanted[name]) for name, array in feeds.items()}


def intermediates(path: Path, feeds: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """Values of the graph by name, computed by exposing them as outputs; names that the graph lacks are left out."""
    model = onnx.load(str(path), load_external_data=False)
    produced = {name for node in model.graph.node for name in node.output}
    present = {output.name for output in model.graph.output}
    types = {v.name: v.type for v in model.graph.value_info}
    wanted = [name for name in names if name in produced]
    for name in wanted:
        if name not in present:
            model.graph.output.append(onnx.ValueInfoProto(name=name, type=types.get(name)))
    options = _options()
    # The graph is in memory, its weights stay in the shards beside the file.
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(path.resolve().parent))
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip(wanted, session.run(wanted, dict(feeds)), strict=True))


_NUMPY_TYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(uint32)": "uint32",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(bool)": "bool",
}


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return options


def _first_line(fault: Exception) -> str:
    return str(fault).strip().splitlines()[0][:300] if str(fault).strip() else type(fault).__name__
