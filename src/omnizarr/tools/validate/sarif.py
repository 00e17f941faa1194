"""A report in SARIF 2.1.0, which code forges and editors show.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Final
from urllib.parse import quote

from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.validate.report import Finding, Report
from omnizarr.tools.validate.rules import RULES, Rule

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT: Final = "STORE"


def to_sarif(report: Report) -> dict[str, JSON]:
    """Return a report as a SARIF log of one run; findings are located by keys below the store's URI."""
    places = {rule: at for at, rule in enumerate(RULES)}
    driver: dict[str, JSON] = {
        "name": "oz validate",
        "version": version("omnizarr"),
        "rules": [_rule(rule) for rule in RULES.values()],
    }
    run: dict[str, JSON] = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_ROOT: {"uri": report.root.rstrip("/") + "/"}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, places[finding.rule]) for finding in report.findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> JSON:
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{rule.summary} {rule.clause.name}."},
        "helpUri": rule.clause.url,
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"repair": rule.repair or "none"},
    }


def _result(finding: Finding, index: int) -> JSON:
    place: dict[str, JSON] = {
        "logicalLocations": [{"fullyQualifiedName": f"/{finding.path}", "kind": "object"}],
    }
    if finding.key is not None:
        artifact: dict[str, JSON] = {"uri": quote(finding.key), "uriBaseId": _ROOT}
        place["physicalLocation"] = {"artifactLocation": artifact}
    properties: dict[str, JSON] = {"count": finding.times, "repairable": finding.repairable}
    if finding.pointer is not None:
        properties["pointer"] = finding.pointer
    text = finding.message if finding.hint is None else f"{finding.message}. {finding.hint}"
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": text},
        "locations": [place],
        "properties": properties,
    }
