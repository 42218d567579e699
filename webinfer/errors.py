"""Errors that a user can act on: one class per stage, one line per message.

Every message names the culprit, what was expected, what was found and the next step.
The command line prints the message and exits with `exit_code`; it never shows a traceback for these.
"""

from __future__ import annotations


class WebinferError(Exception):
    """Base of every error that webinfer raises on purpose."""

    exit_code = 2


class SourceError(WebinferError):
    """The source model is missing, damaged, unsafe or not of a supported kind."""


class GraphError(WebinferError):
    """A pass or a fusion met a graph that it cannot take, or broke its own contract."""


class UnsupportedError(WebinferError):
    """Nodes that no kernel covers; the message lists all of them."""


class PlanError(WebinferError):
    """The memory plan cannot meet the limits of the target."""


class PackageError(WebinferError):
    """A package is damaged, of another version, or cannot be written."""


class InputError(WebinferError):
    """A run was given the wrong inputs."""


class DeviceError(WebinferError):
    """A device is missing, was lost, or lacks a limit or feature."""


class CheckFailed(WebinferError):
    """A check (verify, gate, quality bar) ran and did not hold."""

    exit_code = 1
