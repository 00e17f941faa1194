"""Settings for S3, and for what speaks its language."""

from __future__ import annotations

from typing import Final

from omnizarr.errors import StoreError, UnsafeError
from omnizarr.store.cloud.find import Found, anonymous, found_for
from omnizarr.store.cloud.keys import Keys, Renewal, Source, Static, keys_of
from omnizarr.store.cloud.secret import Config
from omnizarr.store.cloud.settled import Settled, checked_endpoint
from omnizarr.store.cloud.wishes import Wishes
from omnizarr.store.uri import quote
from omnizarr.store.url.aws import NO_PROFILES, Asked, Choice
from omnizarr.store.url.chosen import Chosen, chosen
from omnizarr.store.url.grammar import Url
from omnizarr.store.url.modes import Modes
from omnizarr.store.url.profiles import Profiles
from omnizarr.store.url.rc import read_rc
from omnizarr.store.url.s3 import AWS_HOST, GOOGLE_HOST
from omnizarr.store.url.settings import Surroundings

_KEYS: Final = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
_ROLE: Final = ("aws_role_arn", "aws_role_session_name", "aws_endpoint_url_sts")
_OWN: Final = ("aws_web_identity_token_file", "aws_container_credentials_relative_uri")
"""Options by which the kernel finds credentials itself."""


def settle_s3(url: Url, modes: Modes, wishes: Wishes, around: Surroundings) -> Settled:
    """Decide about a place on S3.

    Raises:
        UnsafeError: If there is no bucket, or options contradict each other.
        StoreError: If credentials that are named cannot be had.
    """
    asked = Asked(wishes.text("profile"), wishes.text("region"), wishes.text("endpoint"))
    decided = chosen(url, modes.storage, read_rc(around), around, asked=asked)
    place, choice = decided.place, decided.choice
    if choice.named and choice.profile not in (*NO_PROFILES, *decided.profiles.by_name):
        raise _no_profile(choice.profile, decided.profiles)
    endpoint = checked_endpoint(decided.endpoint)
    if wishes.wishes.get("use_ssl") is False and endpoint.startswith("https:"):
        endpoint = "http" + endpoint[5:]
    if wishes.text("bucket") not in ("", place.bucket):
        raise UnsafeError(f"the options name the bucket {wishes.text('bucket')!r}, the URL {place.bucket!r}")
    given = Config({name: text for name, text in wishes.config.items() if name not in (*_KEYS, *_ROLE)})
    config = Config({"aws_bucket_name": place.bucket, "aws_region": choice.region})
    config |= _address(endpoint, decided, wishes.text("style"))
    found = _credentials(wishes, choice, around)
    config |= found.config
    config |= given
    words = "none" if found.anonymous else choice.credentials
    words = "the options" if wishes.config.keys() & {*_KEYS, *_ROLE, *_OWN} else words
    keys = None if found.source is None else keys_of(found.source)
    if keys is not None:
        config |= keys.config()
    renewable = found.source is not None and not isinstance(found.source, Static)
    return Settled(
        kind="s3",
        config=config,
        prefix=place.key,
        uri=_uri(endpoint, place.bucket, place.key),
        settings=wishes.settings,
        credentials=words,
        expires=keys.expires if keys is not None else None,
        renew=Renewal(found.source) if found.source is not None and renewable else None,
        notes=(*place.notes, *choice.notes, *decided.profiles.notes, *wishes.notes),
    )


def _no_profile(name: str, profiles: Profiles) -> StoreError:
    known = ", ".join(sorted(profiles.by_name)) or "none at all"
    return StoreError(
        f"there is no profile {name!r} in {' or '.join(profiles.files)}",
        hint=f"There are: {known}. The profile 'no' signs nothing.",
    )


def _address(endpoint: str, decided: Chosen, asked: str) -> dict[str, str]:
    """Return how the bucket is addressed: in the path, as netcdf-c does, unless someone asks for the host.

    Where a URL has the bucket in a host that is not Amazon's, that very host is asked: it is sure to be one.
    """
    place, style = decided.place, (asked or decided.choice.style).lower()
    if style not in ("", "auto", "path", "virtual"):
        raise UnsafeError(f"there is no style of addresses {style!r}", hint="There are path, virtual and auto.")
    of_url = place.style == "virtual" and bool(place.host) and not asked
    scheme, _, host = endpoint.partition("://")
    result = {"allow_http": "true"} if scheme == "http" else {}
    if style != "virtual" and not (of_url and style != "path"):
        return {**result, "aws_endpoint": endpoint, "aws_virtual_hosted_style_request": "false"}
    server = host if host.startswith(f"{place.bucket.lower()}.") else f"{place.bucket}.{host}"
    return {**result, "aws_endpoint": f"{scheme}://{server}", "aws_virtual_hosted_style_request": "true"}


def _credentials(wishes: Wishes, choice: Choice, around: Surroundings) -> Found:
    key_id, secret, token = (wishes.config.get(name, "") for name in _KEYS)
    anon = wishes.wishes.get("anon")
    if (key_id or token) and not (key_id and secret):
        raise UnsafeError("the options have a part of an access key: key and secret go together")
    if secret and not key_id:
        raise UnsafeError("the options have a part of an access key: key and secret go together")
    if anon and (key_id or wishes.config.get("aws_role_arn")):
        raise UnsafeError("the options have credentials, and anon, which uses none", hint="Leave one of them out.")
    if anon:
        return anonymous()
    own = Config({name: text for name, text in wishes.config.items() if name in _ROLE})
    if any(name in wishes.config for name in _OWN):
        return Found(own)
    if key_id:
        found = Found(source=Static(Keys(key_id, secret, token)))
    else:
        found = found_for(choice, around, ask_machine=bool(wishes.wishes.get("instance_role")))
    if "aws_role_arn" in own:
        return Found(source=_role(own, wishes, choice, _source_of(found)))
    if anon is False and found.anonymous:
        raise StoreError(
            "requests are to be signed (anon=False), but there are no credentials",
            hint="Give key and secret or a profile, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or anon=True.",
        )
    return found


def _source_of(found: Found) -> Source:
    if found.source is None:
        raise UnsafeError(
            "the option role_arn needs an access key to begin with", hint="Give key and secret, or a profile with them."
        )
    return found.source


def _role(own: Config, wishes: Wishes, choice: Choice, source: Source) -> Source:
    from omnizarr.store.cloud.sts import Role  # noqa: PLC0415 - few need it, and it brings much along

    session = own.get("aws_role_session_name") or "omnizarr"
    server = own.get("aws_endpoint_url_sts", "")
    return Role(own["aws_role_arn"], source, choice.region, server, session, wishes.text("external_id"))


def _uri(endpoint: str, bucket: str, key: str) -> str:
    host = endpoint.partition("://")[2]
    tail = f"{bucket}/{key}" if key else bucket
    if host.endswith(AWS_HOST):  # whose buckets have one name in all regions
        return f"s3://{tail}"
    return f"gs://{tail}" if host == GOOGLE_HOST else f"{endpoint}/{quote(tail)}"
