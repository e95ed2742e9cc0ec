"""A row of the table: what is measured, what it must reach, and the function that measures it."""

from dataclasses import dataclass
from typing import Callable


@dataclass
class Result:
    shown: str
    met: bool
    details: str


@dataclass
class Row:
    key: str
    what: str
    must: str
    measure: Callable  # (repetitions) -> Result

    @staticmethod
    def result(shown, met, details=""):
        return Result(shown, met, details)
