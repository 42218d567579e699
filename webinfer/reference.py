"""ONNX Runtime on the CPU: the numeric reference of every stage, fusion, kernel and device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from webinfer.errors import SourceError

Array = np.ndarray[Any, np.dtype[Any]]

_NUMPY_TYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    **{f"tensor({sign}int{bits})": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "tensor(bool)": "bool",
}


class Reference:
    """One model, in a file or in memory, and its session."""

    def __init__(self, model: onnx.ModelProto | Path, *, plain: bool = False, folder: Path | None = None) -> None:
        """Raises SourceError where ONNX Runtime cannot load the model.

        plain: without graph optimizations, each node exactly as written. folder: where external data of a model in
        memory lies.
        """
        self.origin = str(model) if isinstance(model, Path) else f"graph {model.graph.name!r}"
        options = onnxruntime.SessionOptions()
        # Its warnings go to standard error behind the command line; errors are raised anyway.
        options.log_severity_level = 4
        if plain:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        if folder is not None:
            key = "session.model_external_initializers_file_folder_path"
            options.add_session_config_entry(key, str(folder.resolve()))
        try:
            content = str(model) if isinstance(model, Path) else model.SerializeToString()
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as fault:
            raise SourceError(
                f"{self.origin}: ONNX Runtime cannot load it: {_first_line(fault)}; export the model again"
            ) from fault

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name; feeds are cast to the element types of the model's inputs.

        Raises SourceError where the names differ or ONNX Runtime cannot run the model.
        """
        sent = self.cast(feeds)
        names = [output.name for output in self._session.get_outputs()]
        try:
            values = self._session.run(names, sent)
        except Exception as fault:
            raise SourceError(
                f"{self.origin}: ONNX Runtime cannot run it: {_first_line(fault)}; export the model again"
            ) from fault
        return {name: np.asarray(value) for name, value in zip(names, values, strict=True)}

    def cast(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Feeds in the element types of the model's inputs. Raises SourceError where the names differ."""
        wanted = {i.name: _NUMPY_TYPES.get(i.type) for i in self._session.get_inputs()}
        if set(feeds) != set(wanted):
            raise SourceError(
                f"{self.origin}: expected inputs {', '.join(sorted(wanted))}, found {', '.join(sorted(feeds))}; "
                "compare with the file that the package was made from"
            )
        return {name: array.astype(wanted[name] or array.dtype, copy=False) for name, array in feeds.items()}


def run_reference(
    model: onnx.ModelProto | Path, feeds: Mapping[str, Array], *, plain: bool = False
) -> dict[str, Array]:
    """Outputs of one run by name, as `Reference` gives them."""
    return Reference(model, plain=plain).run(feeds)


def intermediates(path: Path, feeds: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """Values of the graph by name, computed by exposing them as outputs; names that the graph lacks are left out."""
    # The graph is read, its weights stay in the shards beside the file.
    model = onnx.load(str(path), load_external_data=False)
    produced = {name for node in model.graph.node for name in node.output}
    types = {v.name: v.type for v in [*model.graph.value_info, *model.graph.output]}
    wanted = [name for name in names if name in produced]
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name, type=types.get(name)) for name in wanted)
    return Reference(model, folder=path.parent).run(feeds) if wanted else {}


def _first_line(fault: Exception) -> str:
    return str(fault).strip().splitlines()[0][:300] if str(fault).strip() else type(fault).__name__
