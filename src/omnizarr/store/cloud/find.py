"""From a choice to credentials for S3: settings of the store, or a source that has to be asked again and again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from omnizarr.errors import StoreError, UnsafeError, UnsupportedError
from omnizarr.late import LateModule
from omnizarr.store.cloud.keys import Keys, Source, Static
from omnizarr.store.cloud.secret import Config
from omnizarr.store.url.aws import Choice
from omnizarr.store.url.profiles import folder_of_tools, read_secrets, source_of
from omnizarr.store.url.settings import Surroundings

if TYPE_CHECKING:
    from omnizarr.store.cloud import sources, sso, sts
else:
    # They bring the standard library's client and its processes, which take long to import, and most need neither.
    sources = LateModule("omnizarr.store.cloud.sources")
    sso = LateModule("omnizarr.store.cloud.sso")
    sts = LateModule("omnizarr.store.cloud.sts")

_ANONYMOUS = {"aws_skip_signature": "true"}
_MOST_ROLES = 8


class Found(NamedTuple):
    """Either settings that say all, or a source to ask for keys; both empty for none."""

    config: Config = Config()
    source: Source | None = None
    anonymous: bool = False


def anonymous() -> Found:
    """Return the settings for requests without a signature."""
    return Found(Config(_ANONYMOUS), anonymous=True)


def found_for(choice: Choice, around: Surroundings, *, ask_machine: bool) -> Found:
    """Find the credentials of a choice.

    Args:
        choice: Which profile, and which source.
        around: Where settings are looked for.
        ask_machine: Whether the metadata service is to be used whatever the machine looks like.

    Raises:
        StoreError: If the profile is not there.
        UnsupportedError: If it wants something that cannot be done here.
    """
    if choice.source == "profile":
        profiles = read_secrets(around)
        if choice.credentials.startswith("a web identity"):
            return Found(_web_identity_of(profiles[choice.profile]))
        return Found(source=_of_profile(choice.profile, choice.region, profiles, around))
    return _surrounding(choice, around, ask_machine=ask_machine)


def _surrounding(choice: Choice, around: Surroundings, *, ask_machine: bool) -> Found:
    if choice.source == "environment":
        return Found(source=Static(_environment(around)))
    if choice.source == "web identity":
        names = ("web_identity_token_file", "role_arn", "role_session_name", "endpoint_url_sts")
        return Found(Config({f"aws_{name}": text for name in names if (text := around.get(f"AWS_{name.upper()}"))}))
    if choice.source == "container":
        return _container(around)
    unsigned = choice.named and choice.source == "none" and choice.profile in ("no", "none")
    if choice.source == "instance" or (ask_machine and not unsigned):
        return _machine(around, sure=ask_machine)
    return anonymous()


def _environment(around: Surroundings) -> Keys:
    return Keys(around.get("AWS_ACCESS_KEY_ID"), around.get("AWS_SECRET_ACCESS_KEY"), around.get("AWS_SESSION_TOKEN"))


def _web_identity_of(profile: Mapping[str, str]) -> Config:
    names = ("web_identity_token_file", "role_arn", "role_session_name")
    return Config({f"aws_{name}": profile[name] for name in names if profile.get(name)})


def _container(around: Surroundings) -> Found:
    relative = around.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
    if relative:
        return Found(Config({"aws_container_credentials_relative_uri": relative}))
    return Found(source=_container_source(around))


def _container_source(around: Surroundings) -> Source:
    relative = around.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
    url = f"http://169.254.170.2{relative}" if relative else around.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
    if not url:
        raise StoreError("there are no credentials of a container: AWS_CONTAINER_CREDENTIALS_FULL_URI is not set")
    file = around.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
    return sources.Container(url, "" if file else around.get("AWS_CONTAINER_AUTHORIZATION_TOKEN"), file)


def _machine(around: Surroundings, *, sure: bool) -> Found:
    """Leave the machine's role to the kernel; one that has none is anonymous, unless its role was asked for."""
    endpoint = around.get("AWS_EC2_METADATA_SERVICE_ENDPOINT")
    if not sure and not _machine_source(around).role():
        return anonymous()
    given = {"aws_metadata_endpoint": endpoint.rstrip("/")} if endpoint else {}
    return Found(Config({"aws_imdsv1_fallback": "true", **given}))


def _machine_source(around: Surroundings) -> sources.Machine:
    return sources.Machine(around.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or sources.METADATA)


def _of_profile(
    name: str, region: str, profiles: Mapping[str, Mapping[str, str]], around: Surroundings, seen: tuple[str, ...] = ()
) -> Source:
    """Return the source of a profile, which may be the role of another."""
    profile = profiles.get(name)
    if profile is None:
        raise StoreError(f"there is no profile {name!r}, which the profile {seen[-1]!r} names as its source_profile")
    kind = source_of(profile)
    if kind == "a role" and name not in seen:
        return _role(name, region, profiles, around, seen)
    if kind == "a role" and (seen[-1] != name or not profile.get("aws_access_key_id")):
        raise UnsafeError(f"the profiles {' → '.join((*seen, name))} name each other as their source")
    if kind in ("an access key", "a role"):
        token = profile.get("aws_session_token") or profile.get("aws_security_token", "")
        return Static(Keys(profile["aws_access_key_id"], profile.get("aws_secret_access_key", ""), token))
    if kind == "single sign-on":
        return _sso(name, profile, profiles, around)
    if kind.startswith("a command"):
        return sources.Process(profile["credential_process"], name)
    if not kind:
        raise StoreError(f"the profile {name!r} has no credentials, and the profile {seen[-1]!r} needs them")
    raise _by_command(f"the profile {name!r} has its credentials from {kind}", name)


def _by_command(what: str, name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what}, which cannot be used here",
        hint=f"Make a profile with credential_process = aws configure export-credentials --profile {name}",
    )


def _role(
    name: str, region: str, profiles: Mapping[str, Mapping[str, str]], around: Surroundings, seen: tuple[str, ...]
) -> Source:
    profile = profiles[name]
    if profile.get("mfa_serial"):
        raise _by_command(f"the role of the profile {name!r} asks for a code (mfa_serial)", name)
    if len(seen) >= _MOST_ROLES:
        raise UnsafeError(f"more than {_MOST_ROLES} roles follow from the profile {seen[0]!r}")
    if profile.get("source_profile"):
        source = _of_profile(profile["source_profile"], region, profiles, around, (*seen, name))
    else:
        source = _named_source(name, profile["credential_source"], around)
    seconds = profile.get("duration_seconds", "")
    if seconds and not seconds.isdigit():
        raise UnsafeError(f"duration_seconds of the profile {name!r} is no number")
    return sts.Role(
        profile["role_arn"],
        source,
        profile.get("region") or region,
        _endpoint("sts", profile, profiles, around),
        profile.get("role_session_name") or "omnizarr",
        profile.get("external_id", ""),
        int(seconds or 0),
    )


def _named_source(name: str, said: str, around: Surroundings) -> Source:
    word = said.lower()
    if word == "environment":
        keys = _environment(around)
        if keys.key_id and keys.secret:
            return Static(keys)
        raise StoreError(f"the role of the profile {name!r} needs an access key of the environment; there is none")
    if word == "ecscontainer":
        return _container_source(around)
    if word == "ec2instancemetadata":
        return _machine_source(around)
    raise UnsafeError(
        f"credential_source of the profile {name!r} is {said!r}",
        hint="It is Environment, EcsContainer or Ec2InstanceMetadata.",
    )


def _sso(
    name: str, profile: Mapping[str, str], profiles: Mapping[str, Mapping[str, str]], around: Surroundings
) -> Source:
    session = profile.get("sso_session", "")
    values = profiles.get(f"sso-session\0{session}", {}) if session else profile
    region, start = values.get("sso_region", ""), values.get("sso_start_url", "")
    account, role = profile.get("sso_account_id", ""), profile.get("sso_role_name", "")
    if not all((region, start, account, role)):
        needed = "sso_region and sso_start_url (of its sso-session), sso_account_id and sso_role_name"
        raise StoreError(f"single sign-on of the profile {name!r} needs {needed}", hint="Run: aws configure sso")
    file = sso.token_file(folder_of_tools(around), session or start)
    portal, issuer = (_endpoint(service, profile, profiles, around) for service in ("sso", "sso_oidc"))
    return sso.Sso(name, file, portal, region, account, role, issuer)


def _endpoint(
    service: str, profile: Mapping[str, str], profiles: Mapping[str, Mapping[str, str]], around: Surroundings
) -> str:
    """Return where another service than S3 is, if anything says so."""
    if around.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS").lower() in ("1", "true", "yes"):
        return ""
    services = profiles.get(f"services\0{profile.get('services', '')}", {})
    return (
        around.get(f"AWS_ENDPOINT_URL_{service.upper()}")
        or around.get("AWS_ENDPOINT_URL")
        or services.get(f"{service}.endpoint_url", "")
        or profile.get("endpoint_url", "")
    )
