"""`scripts/check-advisories`: which versions of a crate an advisory is about."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check-advisories"
ADVISORY = """```toml
[advisory]
id = "RUSTSEC-2021-0072"
package = "tokio"

[versions]
patched = [">= 1.5.1, < 1.6.0", ">= 1.8.1"]
unaffected = ["< 0.3.0"]
```

# Task dropped in wrong thread
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = SourceFileLoader("check_advisories", str(SCRIPT))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("version", "requirement", "fits"),
    [
        ("1.5.1", ">= 1.5.1, < 1.6.0", True),
        ("1.6.0", ">= 1.5.1, < 1.6.0", False),
        ("1.10.0", ">1.9", True),
        ("2.0.0-rc.1", ">= 2.0.0", False),
        ("0.4.9", "^0.4.2", True),
        ("0.5.0", "^0.4.2", False),
        ("1.9.0", "1.2", True),
        ("1.3.0", "~1.2.1", False),
        ("1.2.3", "=1.2.3", True),
        ("7.0.0", "*", True),
        ("1.0.0+zstd.1", "<= 1.0.0", True),
    ],
)
def test_requirements_are_those_of_cargo(script, version, requirement, fits):
    assert script.fits(version, requirement) is fits


def test_an_advisory_is_about_what_is_not_safe(script, tmp_path):
    folder = tmp_path / "crates" / "tokio"
    folder.mkdir(parents=True)
    (folder / "RUSTSEC-2021-0072.md").write_text(ADVISORY)
    versions = ["0.2.9", "0.3.0", "1.5.0", "1.5.1", "1.7.9", "1.8.1"]
    told = list(script.advisories(tmp_path, [("tokio", one) for one in versions] + [("other", "1.0.0")]))
    assert told == [f"tokio {one}: RUSTSEC-2021-0072, vulnerability" for one in ("0.3.0", "1.5.0", "1.7.9")]


def test_nobody_to_ask_is_no_error_but_is_told(script, monkeypatch, capsys):
    monkeypatch.setattr(script, "asked", lambda url: None)
    monkeypatch.setattr(script, "clone", lambda: None)
    monkeypatch.setattr("sys.argv", ["check-advisories"])
    assert script.main() == 0
    assert "could not be asked: RustSec's advisories" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["check-advisories", "--all"])
    assert script.main() == 3
