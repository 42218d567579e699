"""FusedOp: one graph node, plain or a call of an `ai.webinfer` function, seen as prologue -> anchor -> epilogue.

A fusion outlines matched nodes into a function whose body is those nodes, so the model stays portable. Lowering reads
the body back: at most one Concat or Resize in front, one anchor with a kernel of its own, then elementwise nodes. A
body of elementwise nodes alone has no anchor. A call of an OPAQUE function is an anchor itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from webinfer.errors import GraphError

DOMAIN = "ai.webinfer"
# Operators that a kernel can apply while it reads its input.
PROLOGUES = frozenset({"Concat", "Resize"})

# Functions that have a kernel of their own: lowering takes the call as it is and never looks into the body.
OPAQUE = frozenset({"ChannelMajorAttention"})


@dataclass(frozen=True)
class Step:
    """One node of a fused body. Inputs and outputs are names: of outer values, or of inner ones from earlier steps."""

    op_type: str
    inputs: tuple[str, ...]  # "" for an omitted optional input
    outputs: tuple[str, ...]
    attributes: Mapping[str, ir.Attr]

    def ints(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """Attribute `name` as integers."""
        return tuple(self.attributes[name].as_ints()) if name in self.attributes else tuple(default)

    def int(self, name: str, default: int) -> int:
        """Attribute `name` as an integer."""
        return self.attributes[name].as_int() if name in self.attributes else default

    def float(self, name: str, default: float) -> float:
        """Attribute `name` as a float."""
        return self.attributes[name].as_float() if name in self.attributes else default

    def string(self, name: str, default: str) -> str:
        """Attribute `name` as a string."""
        return self.attributes[name].as_string() if name in self.attributes else default


@dataclass(frozen=True)
class FusedOp:
    """What lowering sees of one graph node."""

    name: str
    domain: str
    prologue: Step | None
    anchor: Step | None
    epilogue: tuple[Step, ...]
    outputs: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """(domain, op type) that selects the lowering; elementwise bodies share ("ai.webinfer", "Pointwise")."""
        return (self.domain, self.anchor.op_type) if self.anchor else (DOMAIN, "Pointwise")

    @property
    def output(self) -> str:
        """The only output."""
        (name,) = self.outputs
        return name

    def sources(self, index: int = 0) -> tuple[str, ...]:
        """The tensors that together are the anchor's input `index`: several where a Concat was folded in front.

        Behind a folded Resize this is the small image; see `enlarged`.
        """
        assert self.anchor is not None
        name = self.anchor.inputs[index]
        if self.prologue and name == self.prologue.outputs[0]:
            return self.prologue.inputs if self.prologue.op_type == "Concat" else self.prologue.inputs[:1]
        return (name,)

    @property
    def enlarged(self) -> bool:
        """Whether the anchor reads its first input enlarged twice along rows and columns (nearest)."""
        return self.prologue is not None and self.prologue.op_type == "Resize"


def _step(node: ir.Node, rename: Mapping[str, str]) -> Step:
    def names(values: Sequence[ir.Value | None]) -> tuple[str, ...]:
        return tuple("" if v is None else rename.get(v.name or "", v.name or "") for v in values)

    return Step(node.op_type, names(node.inputs), names(node.outputs), dict(node.attributes))


def read_fused(node: ir.Node, model: ir.Model, elementwise: Collection[str]) -> FusedOp:
    """Read `node` as a FusedOp; `elementwise` names the op types that have no kernel of their own.

    Raises GraphError where a function body has no single anchor or is not in the order prologue, anchor, elementwise.
    """
    name = node.name or (node.outputs[0].name or "")
    outputs = tuple(o.name or "" for o in node.outputs)
    if node.domain != DOMAIN:
        step = _step(node, {})
        if node.op_type in elementwise and node.domain in ("", "com.microsoft"):
            return FusedOp(name, "", None, None, (step,), outputs)
        return FusedOp(name, node.domain, None, step, (), outputs)
    stem = node.op_type.partition("__")[0]
    if stem in OPAQUE:
        return FusedOp(name, DOMAIN, None, replace(_step(node, {}), op_type=stem), (), outputs)
    function = model.functions[node.op_identifier()]
    rename = {f.name or "": (a.name or "" if a else "") for f, a in zip(function.inputs, node.inputs, strict=False)}
    rename |= {f.name or "": o for f, o in zip(function.outputs, outputs, strict=True)}
    inner = {o.name or "" for n in function for o in n.outputs} - set(rename)
    rename |= {i: f"{name}/{i}" for i in inner}
    steps = [(n.domain, _step(n, rename)) for n in function]
    prologue: Step | None = None
    if len(steps) > 1 and steps[0][1].op_type in PROLOGUES and steps[1][1].op_type not in elementwise:
        prologue = steps.pop(0)[1]
    anchors = [(d, s) for d, s in steps if s.op_type not in elementwise]
    if len(anchors) > 1 or (anchors and steps[0] != anchors[0]) or (prologue and not anchors):
        raise GraphError(f"function {function.name}: expected prologue, one anchor, elementwise nodes in this order")
    if not anchors:
        return FusedOp(name, DOMAIN, None, None, tuple(s for _, s in steps), outputs)
    domain, anchor = anchors[0]
    return FusedOp(name, domain, prologue, anchor, tuple(s for _, s in steps[1:]), outputs)
