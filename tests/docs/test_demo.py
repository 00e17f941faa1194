"""The demo runs from beginning to end and leaves a page that shows the data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_demo_makes_a_page(tmp_path):
    page = tmp_path / "demo.html"
    done = subprocess.run(
        [sys.executable, str(DEMO), "--page", str(page)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    html = page.read_text(encoding="utf-8")
    assert "<svg" in html
    assert "sst" in html
    assert str(page) in done.stdout
