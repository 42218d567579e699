"""Sources of models: one file per kind, each giving a plain ONNX model."""
