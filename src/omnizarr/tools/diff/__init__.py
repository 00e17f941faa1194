"""How two locations differ: in what is there, in its attributes and in its values."""

from omnizarr.tools.diff.compare import diff
from omnizarr.tools.diff.result import (
    AttributeChange,
    Change,
    Difference,
    Extreme,
    FieldDifference,
    NodeDifference,
    OneSided,
    Pair,
    Problem,
    Rename,
    ValueDifference,
)

__all__ = [
    "AttributeChange",
    "Change",
    "Difference",
    "Extreme",
    "FieldDifference",
    "NodeDifference",
    "OneSided",
    "Pair",
    "Problem",
    "Rename",
    "ValueDifference",
    "diff",
]
