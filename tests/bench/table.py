"""A table of measurements: the floor, ours, the ratio, and what was promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """``most`` bounds the ratio, or with ``absolute`` our own figure. ``digits`` after the point; ``floor`` None where
    there is nothing to compare with."""

    what: str
    floor: float | None
    ours: float
    most: float
    digits: int = 1
    absolute: bool = False

    @property
    def kept(self) -> bool:
        judged = self.ours if self.absolute or not self.floor else self.ours / self.floor
        return judged <= self.most

    def __str__(self) -> str:
        floor = "" if self.floor is None else f"{self.floor:.{self.digits}f}"
        ratio = f"{self.ours / self.floor:.2f}" if self.floor and not self.absolute else ""
        most = f"{self.most:g}" if self.absolute else f"{self.most:g}x"
        missed = "" if self.kept else " **missed**"
        return f"| {self.what} | {floor} | {self.ours:.{self.digits}f} | {ratio} | {most}{missed} |"


def printed(rows: Sequence[Row]) -> None:
    print("| | floor | ours | ratio | at most |")
    print("|---|---|---|---|---|")
    for row in rows:
        print(row)
