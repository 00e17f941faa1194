"""Checking stores against the specifications, and mending them."""

from __future__ import annotations

from omnizarr.tools.validate.report import Census, Cure, Finding, Report
from omnizarr.tools.validate.rules import RULES, Rule
from omnizarr.tools.validate.run import validate

__all__ = ["RULES", "Census", "Cure", "Finding", "Report", "Rule", "validate"]
