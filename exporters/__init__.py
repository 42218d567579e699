"""Exporters turn sources into plain ONNX models, one file per kind of source."""
