"""What the runtime tests stand on: running mlbcc, reading its trace, and knowing the machine."""

from .case import Driver, TracerCase, main_is_missing
from .machine import MLBCC, ROOT, TARGETS, target
from .trace import Trace

__all__ = ["Driver", "MLBCC", "ROOT", "TARGETS", "Trace", "TracerCase", "main_is_missing", "target"]
