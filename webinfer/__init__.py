"""webinfer compiles ONNX models ahead of time for WebGPU inside games."""

__version__ = "0.1.0"
