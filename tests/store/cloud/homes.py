"""A temporary home with real files of settings, for tests of what they select."""

from __future__ import annotations

from pathlib import Path

from omnizarr.store.url.settings import Surroundings

PLACES = {
    "config": "home/.aws/config",
    "credentials": "home/.aws/credentials",
    "ncrc": "home/.ncrc",
    "work": "work/.ncrc",
    "dodsrc": "home/.dodsrc",
    "vendor": "sys/class/dmi/id/sys_vendor",
    "product": "sys/class/dmi/id/product_name",
    "chassis": "sys/class/dmi/id/chassis_asset_tag",
    "adc": "home/.config/gcloud/application_default_credentials.json",
}


def make_home(root: Path, files: dict[str, str], environ: dict[str, str] | None = None) -> Surroundings:
    """Write the files, each under its short name, and return surroundings that have nothing else."""
    for folder in ("home/.aws", "work", "sys"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = root / PLACES.get(name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    here = {name: value.replace("{root}", str(root)) for name, value in (environ or {}).items()}
    return Surroundings(here, str(root / "home"), str(root / "work"), str(root / "sys"))
