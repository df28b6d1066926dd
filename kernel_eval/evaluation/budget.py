"""How long one operator's candidate may run, all its processes together."""

from __future__ import annotations

TIME_OUTS = 3
"""After so many time-outs the operator's remaining cases are timed out without being run."""


class OperatorBudget:
    """Counts the seconds that the candidate spent, not the judge's."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._spent_s = 0.0
        self._time_outs = 0

    def charge(self, seconds: float) -> None:
        """Count time in which the candidate's own processes were prepared or ran."""
        self._spent_s += max(seconds, 0.0)

    def count_time_out(self) -> None:
        """Count a case that was timed out while running."""
        self._time_outs += 1

    @property
    def left_s(self) -> float:
        """Seconds that remain."""
        return max(self._limit_s - self._spent_s, 0.0)

    @property
    def exhausted(self) -> str | None:
        """Why no further case is run; None while there is time."""
        if self._time_outs >= TIME_OUTS:
            return f"not run: {self._time_outs} cases of the operator had timed out before"
        if self._spent_s >= self._limit_s:
            return f"not run: the operator's budget of {self._limit_s:g} s was used up"
        return None
