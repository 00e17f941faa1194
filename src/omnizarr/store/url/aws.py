"""The files of Amazon's tools, `~/.aws/config` and `~/.aws/credentials`, and the choice of a profile and a region.

Of secrets nothing is kept but whether they are there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from omnizarr.store.url.grammar import Url
from omnizarr.store.url.modes import Note
from omnizarr.store.url.rc import Rc
from omnizarr.store.url.settings import Surroundings, read_text

NO_PROFILES: Final = ("no", "none")
"""Names of the profile without credentials: the newer one, and the one up to netcdf-c 4.9.2."""
DEFAULT_REGION: Final = "us-east-1"

_SHOWN: Final = ("region", "aws_region", "endpoint_url")
_ID, _SECRET = "aws_access_key_id", "aws_secret_access_key"


class Profile(NamedTuple):
    """A section of those files: what may be shown of it."""

    values: Mapping[str, tuple[str, str]]
    """Region and endpoint: the value, and the file and line that it is from."""
    has_keys: bool
    """Whether it has both halves of an access key."""
    where: str
    """The files that it is in."""


class Profiles(NamedTuple):
    """All sections, and what was odd about the files."""

    by_name: Mapping[str, Profile]
    notes: tuple[Note, ...]


class Choice(NamedTuple):
    """What was chosen."""

    profile: str
    region: str
    endpoint: str
    """One that a profile or the environment sets; empty if none does."""
    credentials: str
    """Where an access key comes from, in words."""
    notes: tuple[Note, ...]


def read_profiles(around: Surroundings) -> Profiles:
    """Read both files; what stands in the second wins."""
    home = around.get("NC_TEST_AWS_DIR") or around.home
    files = [
        around.get("AWS_CONFIG_FILE") or f"{home}/.aws/config",
        around.get("AWS_SHARED_CREDENTIALS_FILE") or f"{home}/.aws/credentials",
    ]
    sections: dict[str, dict[str, tuple[str, str]]] = {}
    notes: list[Note] = []
    for file in files:
        try:
            text = read_text(os.path.expanduser(file))  # noqa: PTH111 - pathlib takes longer to import
        except OSError as error:
            notes.append(Note("profiles", f"{file} cannot be read: {error.strerror}"))
            continue
        _read_sections(text or "", file, sections, notes)
    return Profiles({name: _profile(values) for name, values in sections.items()}, tuple(notes))


def _read_sections(text: str, file: str, sections: dict[str, dict[str, tuple[str, str]]], notes: list[Note]) -> None:
    current: dict[str, tuple[str, str]] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line, where = raw.strip(), f"{file}:{number}"
        if not line or line.startswith((";", "#")):
            continue
        if line.startswith("["):
            words = line[1:].partition("]")[0].split()
            current = sections.setdefault(words[-1], {}) if words and words[0] in ("profile", words[-1]) else None
            continue
        key, equals, value = line.partition("=")
        if current is None or not equals:
            # The line itself may be a secret.
            notes.append(Note("profiles", f"{where} is neither a [profile] nor a key of one; it is ignored"))
        else:
            current[key.strip().lower()] = value.strip(), where


def _profile(values: dict[str, tuple[str, str]]) -> Profile:
    files = dict.fromkeys(where.rpartition(":")[0] for _, where in values.values()) or ["a file without keys for it"]
    return Profile(
        {key: values[key] for key in _SHOWN if key in values and values[key][0]},
        all(values.get(key, ("", ""))[0] for key in (_ID, _SECRET)),
        " and ".join(files),
    )


def choose(url: Url, host_region: str, rc: Rc, profiles: Profiles, around: Surroundings) -> Choice:
    """Choose profile, region and endpoint for a URL, in the order of netcdf-c.

    Profile: `aws.profile` of the URL, AWS.PROFILE of a .rc file, AWS_PROFILE if there is such a profile, "default" if
    there is one, else none. Region: the host, `aws.region` of the URL, AWS.REGION of a .rc file, the profile,
    AWS_REGION, AWS_DEFAULT_REGION, else us-east-1.
    """
    notes: list[Note] = []
    profile = _chosen_profile(url, rc, profiles, around, notes)
    active = profiles.by_name.get(profile) if profile not in NO_PROFILES else None
    said = (host_region, "the host") if host_region else _of_url(url, rc, "region")
    region = _chosen_region(said, rc, active, around, notes)
    endpoint = _chosen_endpoint(active, around, notes)
    if active is None and profile not in NO_PROFILES:
        notes.append(Note("profile", f"there is no profile {profile!r} in the files of Amazon's tools"))
    if active is not None and active.has_keys:
        credentials = f"an access key of the profile {profile}"
    elif profile not in NO_PROFILES[1:] and around.get("AWS_ACCESS_KEY_ID") and around.get("AWS_SECRET_ACCESS_KEY"):
        credentials = "an access key of the environment"
    else:
        credentials = "none"
    return Choice(profile, region, endpoint, credentials, tuple(notes))


def _of_url(url: Url, rc: Rc, word: str) -> tuple[str, str] | None:
    """Return what the URL or a .rc file says, and where."""
    given = url.first(f"aws.{word}")
    if given:
        return given, f"aws.{word} of the URL"
    host = url.host + (f":{url.port}" if url.port else "")
    name = f"AWS.{word.upper()}"
    entry = rc.find(name, host, url.path)
    return (entry.value, f"{name} in {entry.where}") if entry is not None and entry.value else None


def _chosen_profile(url: Url, rc: Rc, profiles: Profiles, around: Surroundings, notes: list[Note]) -> str:
    found = _of_url(url, rc, "profile")
    wanted = around.get("AWS_PROFILE")
    if found is None and wanted:
        if wanted in profiles.by_name or wanted in NO_PROFILES:
            found = wanted, "AWS_PROFILE"
        else:
            notes.append(Note("profile", f"AWS_PROFILE is {wanted!r}, and there is no such profile"))
    if found is None and "default" in profiles.by_name:
        found = "default", f"there is one in {profiles.by_name['default'].where}, and no other is asked for"
    if found is None:
        found = NO_PROFILES[0], "there is no other, so requests are not signed"
    notes.append(Note("profile", f"{found[0]}: {found[1]}"))
    return found[0]


def _chosen_region(
    found: tuple[str, str] | None, rc: Rc, active: Profile | None, around: Surroundings, notes: list[Note]
) -> str:
    in_profile = next((active.values[key] for key in _SHOWN[:2] if key in active.values), None) if active else None
    if found is None and in_profile is not None:
        found = in_profile
    elif found is not None and in_profile is not None and found[1].startswith("AWS.") and found[0] != in_profile[0]:
        notes.append(Note("region", f"the profile says {in_profile[0]}; .rc files come first, as in netcdf-c"))
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        if found is None and around.get(name):
            found = around.get(name), name
    misspelt = rc.misspelt("AWS.REGION")
    if found is None and misspelt is not None:
        notes.append(Note("region", f"{misspelt.where} says {misspelt.key}, but only AWS.REGION counts"))
    if found is None:
        found = DEFAULT_REGION, "nothing else is said"
    notes.append(Note("region", f"{found[0]}: {found[1]}"))
    return found[0]


def _chosen_endpoint(active: Profile | None, around: Surroundings, notes: list[Note]) -> str:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        if around.get(name):
            notes.append(Note("endpoint", f"{name}, as Amazon's tools do; netcdf-c does not look at it"))
            return around.get(name)
    if active is not None and "endpoint_url" in active.values:
        value, where = active.values["endpoint_url"]
        notes.append(Note("endpoint", f"endpoint_url in {where}, as Amazon's tools do; netcdf-c does not look at it"))
        return value
    return ""
