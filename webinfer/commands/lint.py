"""`webinfer lint`: per node of a model, whether and how it runs, what it costs, what to change; text, JSON, HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from webinfer.commands.export import parse_dims
from webinfer.commands.printing import print_result, table
from webinfer.cost import all_skus
from webinfer.errors import CheckFailed

if TYPE_CHECKING:
    from webinfer.lint import ModelLint


def lint(
    source: Path, target: str, *, precision: str, dims: Sequence[str], top: int, html: Path | None, as_json: bool
) -> None:
    """Print the report, and write it as a page to `html`. Raises CheckFailed where a node has no kernel on a tier."""
    sizes = parse_dims(dims)
    # The compiler brings onnxscript, which takes longer to import than most commands run.
    from webinfer.lint import lint as lint_model  # noqa: PLC0415

    report = lint_model(source, target, precision=precision, dims=sizes)
    data = {**asdict(report), "skus": {s.id: s.model_dump() for s in all_skus().values()}}
    if html is not None:
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("webinfer.commands", "."),
            undefined=jinja2.StrictUndefined,
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        html.write_text(environment.get_template("lint.html.j2").render(report=report, skus=all_skus()))
    print_result(data, _text(report, top, html), as_json=as_json)
    if report.faults:
        raise CheckFailed(f"{source}: {report.faults} nodes cannot run on every tier; the report says what to change")


def _text(report: ModelLint, top: int, html: Path | None) -> str:
    if report.unsized:
        return f"{report.source}: its shapes cannot be made constant\n{report.unsized}"
    refused = [n for n in report.nodes if not n.supported]
    counts = f"{len(report.nodes)} nodes after fusion, {len(refused)} without a kernel"
    lines = [f"{report.source}  target {report.target}: {counts}"]
    lines += [f"warning: {w}" for w in report.warnings]
    lines += [f"tier {tier}: {fault}" for tier, fault in report.tiers.items() if fault]
    for node in refused:
        lines.append(f"\n  {node.name}: {node.op}({node.shapes})")
        lines += [f"    {tier}: {reason}" for tier, reason in node.tiers.items() if reason]
    skus = all_skus()
    lines += ["", "predicted time (roofline of device_matrix/skus, not a measurement)"]
    lines.append(table(["SKU", "ms"], [[skus[s].name, ms] for s, ms in report.totals.items()]))
    gpus = [s for s in report.totals if skus[s].kind != "software"]
    if gpus:
        slowest = max(gpus, key=lambda s: report.totals[s])
        lines.append(f"the {min(top, len(report.nodes))} slowest nodes on {skus[slowest].name}")
        rows = [
            [n.name, n.op, n.predicted[slowest], n.dispatches, n.flops / 1e6, n.bytes / 1e6, n.bound, n.advice]
            for n in report.slowest(slowest, top)
        ]
        lines.append(table(["node", "operator", "ms", "dispatches", "MFLOP", "MB", "bound", "what to change"], rows))
    if report.broken_fusions:
        lines += ["fusions that did not apply", *(f"  {note}" for note in report.broken_fusions)]
    if html is not None:
        lines.append(f"page: {html}")
    return "\n".join(lines)
