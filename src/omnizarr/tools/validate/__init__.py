"""Checking stores against the specifications, and mending them."""

from __future__ import annotations

from omnizarr.tools.validate.report import ArrayCensus, Cure, Finding, Report
from omnizarr.tools.validate.rules import RULES, Rule
from omnizarr.tools.validate.run import validate

__all__ = ["RULES", "ArrayCensus", "Cure", "Finding", "Report", "Rule", "validate"]
