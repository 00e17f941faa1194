"""The choice of a profile, a region and a source of credentials, as netcdf-c and Amazon's tools make it.

Where the two differ, netcdf-c decides: a profile comes before the keys of the environment, and what no rule gives
credentials for is asked for without a signature, so that public data open anywhere and at once. The metadata service of
Amazon's machines is asked only on machines that look like one of them: elsewhere its address leads nowhere, and
whoever calls it waits for seconds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from omnizarr.store.url.grammar import Url
from omnizarr.store.url.machine import looks_like
from omnizarr.store.url.modes import Note
from omnizarr.store.url.profiles import Profile, Profiles
from omnizarr.store.url.rc import Rc
from omnizarr.store.url.settings import Surroundings

NO_PROFILES: Final = ("no", "none")
"""Names of the profile without credentials: the newer one, and the one up to netcdf-c 4.9.2."""
DEFAULT_REGION: Final = "us-east-1"

_REGIONS: Final = ("region", "aws_region")
_ENDPOINTS: Final = ("s3.endpoint_url", "endpoint_url")
_TRUE: Final = ("1", "true", "yes")


class Asked(NamedTuple):
    """What a program asks for besides the URL; it comes before everything else."""

    profile: str = ""
    region: str = ""
    endpoint: str = ""


class Choice(NamedTuple):
    """What was chosen."""

    profile: str
    region: str
    endpoint: str
    """One that a profile or the environment sets; empty if none does."""
    source: str
    """Where credentials come from: profile, environment, web identity, container, instance or none."""
    credentials: str
    """The same in words."""
    named: bool
    """Whether the profile was asked for by name, not found by default."""
    style: str
    """How the profile wants buckets to be addressed: path, virtual, auto, or empty."""
    notes: tuple[Note, ...]


NOTHING: Final = Asked()


def choose(
    url: Url, host_region: str, rc: Rc, profiles: Profiles, around: Surroundings, *, asked: Asked = NOTHING
) -> Choice:
    """Choose profile, region, endpoint and source of credentials for a URL, in the order of netcdf-c.

    Profile: `aws.profile` of the URL, AWS.PROFILE of a .rc file, AWS_PROFILE if there is such a profile, "default" if
    there is one, else none. Region: the host, `aws.region` of the URL, AWS.REGION of a .rc file, the profile,
    AWS_REGION, AWS_DEFAULT_REGION, else us-east-1. Credentials: the profile, the environment's access key, its web
    identity, the container's role, the machine's role if it looks like one of Amazon's, else none.
    """
    notes: list[Note] = []
    profile, named = _chosen_profile(url, rc, profiles, around, (asked, notes))
    active = profiles.by_name.get(profile) if profile not in NO_PROFILES else None
    said = (asked.region, "as asked for") if asked.region else (host_region, "the host") if host_region else None
    region = _chosen_region(said or _of_url(url, rc, "region"), rc, active, around, notes)
    endpoint = asked.endpoint or _chosen_endpoint(active, around, notes)
    if active is None and profile not in NO_PROFILES:
        notes.append(Note("profile", f"there is no profile {profile!r} in the files of Amazon's tools"))
    source, words = ("none", "none") if named and profile in NO_PROFILES else _source(profile, active, around, notes)
    style = active.values.get("s3.addressing_style", ("", ""))[0] if active is not None else ""
    return Choice(profile, region, endpoint, source, words, named, style.lower(), tuple(notes))


def _source(profile: str, active: Profile | None, around: Surroundings, notes: list[Note]) -> tuple[str, str]:
    in_environment = bool(around.get("AWS_ACCESS_KEY_ID") and around.get("AWS_SECRET_ACCESS_KEY"))
    if active is not None and active.source:
        if in_environment:
            said = "comes before the access key of the environment, as in netcdf-c; Amazon's tools do otherwise"
            notes.append(Note("credentials", f"the profile {profile} {said}"))
        return "profile", f"{active.source} of the profile {profile}"
    if in_environment:
        return "environment", "an access key of the environment"
    if around.get("AWS_WEB_IDENTITY_TOKEN_FILE") and around.get("AWS_ROLE_ARN"):
        return "web identity", "a web identity of the environment"
    if around.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") or around.get("AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        return "container", "the role of the container"
    if around.get("AWS_EC2_METADATA_DISABLED").lower() in _TRUE:
        notes.append(Note("credentials", "AWS_EC2_METADATA_DISABLED is set, so the machine is not asked for a role"))
    elif looks_like("amazon", around):
        return "instance", "the role of the machine, if it has one"
    else:
        said = "this machine does not look like one of Amazon's, so it is not asked for a role (instance_role asks)"
        notes.append(Note("credentials", f"none, so requests are not signed; {said}"))
    return "none", "none"


def _of_url(url: Url, rc: Rc, word: str) -> tuple[str, str] | None:
    """Return what the URL or a .rc file says, and where."""
    given = url.first(f"aws.{word}")
    if given:
        return given, f"aws.{word} of the URL"
    host = url.host + (f":{url.port}" if url.port else "")
    name = f"AWS.{word.upper()}"
    entry = rc.find(name, host, url.path)
    return (entry.value, f"{name} in {entry.where}") if entry is not None and entry.value else None


def _chosen_profile(
    url: Url, rc: Rc, profiles: Profiles, around: Surroundings, told: tuple[Asked, list[Note]]
) -> tuple[str, bool]:
    asked, notes = told
    found = (asked.profile, "as asked for") if asked.profile else _of_url(url, rc, "profile")
    wanted = around.get("AWS_PROFILE")
    if found is None and wanted:
        if wanted in profiles.by_name or wanted in NO_PROFILES:
            found = wanted, "AWS_PROFILE"
        else:
            notes.append(Note("profile", f"AWS_PROFILE is {wanted!r}, and there is no such profile"))
    named = found is not None
    if found is None and "default" in profiles.by_name:
        found = "default", f"there is one in {profiles.by_name['default'].where}, and no other is asked for"
    if found is None:
        found = NO_PROFILES[0], "no other is asked for, and there is none named default"
    notes.append(Note("profile", f"{found[0]}: {found[1]}"))
    return found[0], named


def _chosen_region(
    found: tuple[str, str] | None, rc: Rc, active: Profile | None, around: Surroundings, notes: list[Note]
) -> str:
    in_profile = next((active.values[key] for key in _REGIONS if key in active.values), None) if active else None
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
    if around.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS").lower() in _TRUE:
        notes.append(Note("endpoint", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is set, so none is looked for"))
        return ""
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        if around.get(name):
            notes.append(Note("endpoint", f"{name}, as Amazon's tools do; netcdf-c does not look at it"))
            return around.get(name)
    for key in _ENDPOINTS if active is not None else ():
        if active is not None and key in active.values:
            value, where = active.values[key]
            said = "as Amazon's tools do; netcdf-c does not look at it"
            notes.append(Note("endpoint", f"endpoint_url in {where}, {said}"))
            return value
    return ""
