"""ONNX Runtime on the CPU: the numeric reference of every stage and kernel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime


def run_reference(
    model: onnx.ModelProto | Path, feeds: Mapping[str, np.ndarray[Any, np.dtype[Any]]], *, plain: bool = False
) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """Outputs of a model in memory or in a file, by name. plain: without graph optimizations, each node exactly as written."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    content = str(model) if isinstance(model, Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, (np.asarray(v) for v in session.run(names, dict(feeds))), strict=True))
