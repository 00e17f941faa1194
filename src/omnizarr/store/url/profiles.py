"""The files of Amazon's tools, `~/.aws/config` and `~/.aws/credentials`.

What may be shown of a profile is in `Profile`; its secrets are had by `read_secrets` alone, whose result never shows
them.

https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from omnizarr.store.url.modes import Note
from omnizarr.store.url.settings import Surroundings, read_text

_SHOWN: Final[tuple[str, ...]] = ("region", "aws_region", "endpoint_url", "s3.endpoint_url", "s3.addressing_style")
_OTHER_KINDS: Final = ("sso-session", "services")
_SOURCES: Final = (
    (("role_arn", "source_profile"), "a role"),
    (("role_arn", "credential_source"), "a role"),
    (("role_arn", "web_identity_token_file"), "a web identity"),
    (("sso_session",), "single sign-on"),
    (("sso_start_url",), "single sign-on"),
    (("aws_access_key_id", "aws_secret_access_key"), "an access key"),
    (("login_session",), "a login session"),
    (("credential_process",), "a command (credential_process)"),
)
"""What a profile can have credentials from, by the keys that it then has, in the order of Amazon's tools."""

_Sections = dict[str, dict[str, tuple[str, str]]]


class Profile(NamedTuple):
    """A section of those files: what may be shown of it."""

    values: Mapping[str, tuple[str, str]]
    """Region, endpoint and style of addresses: the value, and the file and line that it is from."""
    source: str
    """Where its credentials come from, in words; empty if it has none."""
    where: str
    """The files that it is in."""


class Profiles(NamedTuple):
    """All sections, and what was odd about the files."""

    by_name: Mapping[str, Profile]
    notes: tuple[Note, ...]
    files: tuple[str, ...] = ()


class Hidden(dict[str, str]):
    """Settings of which only the names are shown."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(sorted(self))})"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (dict(self),)


def read_profiles(around: Surroundings) -> Profiles:
    """Read both files; what stands in the second wins."""
    files = _files(around)
    sections, notes = _read(files)
    found = {name: _profile(values, sections) for name, values in sections.items() if "\0" not in name}
    return Profiles(found, tuple(notes), tuple(files))


def read_secrets(around: Surroundings) -> Mapping[str, Hidden]:
    """Read all that both files say, by profile; sections of other kinds are named "kind", a NUL, "name"."""
    sections, _ = _read(_files(around))
    return {name: Hidden({key: text for key, (text, _) in values.items()}) for name, values in sections.items()}


def folder_of_tools(around: Surroundings) -> str:
    """Return the folder in which Amazon's tools keep their files."""
    return f"{around.get('NC_TEST_AWS_DIR') or around.home}/.aws"


def _files(around: Surroundings) -> list[str]:
    folder = folder_of_tools(around)
    return [
        around.get("AWS_CONFIG_FILE") or f"{folder}/config",
        around.get("AWS_SHARED_CREDENTIALS_FILE") or f"{folder}/credentials",
    ]


def _read(files: list[str]) -> tuple[_Sections, list[Note]]:
    sections: _Sections = {}
    notes: list[Note] = []
    for file in files:
        try:
            text = read_text(os.path.expanduser(file))  # noqa: PTH111 - pathlib takes longer to import
        except OSError as error:
            notes.append(Note("profiles", f"{file} cannot be read: {error.strerror}"))
            continue
        _read_sections(text or "", file, sections, notes)
    return sections, notes


def _read_sections(text: str, file: str, sections: _Sections, notes: list[Note]) -> None:
    current: dict[str, tuple[str, str]] | None = None
    above, depth = "", 0  # a key without a value, below which others may be indented
    for number, raw in enumerate(text.splitlines(), 1):
        line, where = raw.strip(), f"{file}:{number}"
        if not line or line.startswith((";", "#")):
            continue
        if line.startswith("["):
            current, above = _section(line[1:].partition("]")[0].split(), sections), ""
            continue
        key, equals, value = line.partition("=")
        if current is None or not equals:
            # The line itself may be a secret.
            notes.append(Note("profiles", f"{where} is neither a [profile] nor a key of one; it is ignored"))
            continue
        name, indent = key.strip().lower(), len(raw) - len(raw.lstrip())
        if above and indent > depth:
            current[f"{above}.{name}"] = value.strip(), where
            continue
        current[name] = value.strip(), where
        above, depth = ("" if value.strip() else name), indent


def _section(words: list[str], sections: _Sections) -> dict[str, tuple[str, str]] | None:
    if words and words[0] in ("profile", words[-1]):
        return sections.setdefault(words[-1], {})
    if len(words) == 2 and words[0] in _OTHER_KINDS:
        return sections.setdefault("\0".join(words), {})
    return None


def _profile(values: dict[str, tuple[str, str]], sections: _Sections) -> Profile:
    files = dict.fromkeys(where.rpartition(":")[0] for _, where in values.values()) or ["a file without keys for it"]
    shown = {key: values[key] for key in _SHOWN if key in values and values[key][0]}
    services = sections.get(f"services\0{values.get('services', ('', ''))[0]}", {})
    if "s3.endpoint_url" in services:
        shown["s3.endpoint_url"] = services["s3.endpoint_url"]
    return Profile(shown, source_of({key: text for key, (text, _) in values.items()}), " and ".join(files))


def source_of(values: Mapping[str, str]) -> str:
    """Return in words where the credentials of a profile come from, by the keys that it has; empty if it has none."""
    has = {key for key, text in values.items() if text}
    return next((words for keys, words in _SOURCES if has.issuperset(keys)), "")
