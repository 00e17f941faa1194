"""Settings for Google's object store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from omnizarr.errors import StoreError, UnsafeError, UnsupportedError
from omnizarr.store.cloud.secret import Config
from omnizarr.store.cloud.settled import Settled, checked_endpoint
from omnizarr.store.cloud.wishes import Wishes
from omnizarr.store.uri import quote
from omnizarr.store.url.clouds import CloudPlace
from omnizarr.store.url.machine import looks_like
from omnizarr.store.url.s3 import GOOGLE_HOST
from omnizarr.store.url.settings import Surroundings, read_text

_SERVER: Final = f"https://{GOOGLE_HOST}"
# A key that signs nothing keeps the crate from looking for other credentials, which might be broken.
_NOBODY: Final = {"private_key": "", "private_key_id": "", "client_email": "", "disable_oauth": True}
_ANONYMOUS: Final = {"google_skip_signature": "true", "google_service_account_key": json.dumps(_NOBODY)}
_GIVEN: Final = (
    "google_service_account", "google_service_account_key", "google_application_credentials", "google_bearer_token",
)  # fmt: skip


def settle_gcs(place: CloudPlace, wishes: Wishes, around: Surroundings) -> Settled:
    """Decide about a place on Google's store.

    Raises:
        UnsafeError: If options contradict each other.
        StoreError: If credentials that are named cannot be had.
        UnsupportedError: If they are of a kind that cannot be used.
    """
    if wishes.wishes.get("user_project"):
        raise UnsupportedError("buckets whose readers pay are not read on Google's store")
    if wishes.text("bucket") not in ("", place.bucket):
        raise UnsafeError(f"the options name the bucket {wishes.text('bucket')!r}, the URL {place.bucket!r}")
    emulator = around.get("STORAGE_EMULATOR_HOST")
    emulator = emulator if not emulator or "://" in emulator else f"http://{emulator}"
    endpoint = checked_endpoint(wishes.text("endpoint") or emulator or _SERVER)
    config = Config({"google_bucket_name": place.bucket})
    if endpoint != _SERVER:
        config["google_base_url"] = endpoint
    if endpoint.startswith("http:"):
        config["allow_http"] = "true"
    found, words = _credentials(wishes, around)
    config |= found
    config |= {name: text for name, text in wishes.config.items() if name not in _GIVEN}
    tail = f"{place.bucket}/{place.key}" if place.key else place.bucket
    return Settled(
        kind="gcs",
        config=config,
        prefix=place.key,
        uri=f"gs://{tail}" if endpoint == _SERVER else f"{endpoint}/{quote(tail)}",
        settings=wishes.settings,
        credentials=words,
        notes=(*place.notes, *wishes.notes),
    )


def _credentials(wishes: Wishes, around: Surroundings) -> tuple[dict[str, str], str]:
    given = {name: text for name, text in wishes.config.items() if name in _GIVEN}
    token = wishes.wishes.get("token")
    anon = wishes.wishes.get("anon")
    if len(given) + (token is not None) > 1 or (anon and (given or token not in (None, "anon"))):
        raise UnsafeError("the options name several credentials, or some and anon", hint="Leave one of them.")
    if anon or token == "anon":  # noqa: S105 - a word of gcsfs
        return _ANONYMOUS, "none"
    if given:
        return given, "the options"
    if token == "cloud" or wishes.wishes.get("instance_role"):  # noqa: S105 - as above
        return {}, "the account of the machine"
    if token is not None and token != "google_default":  # noqa: S105 - as above
        return _token(token), "the options"
    found = _surrounding(around)
    if found is None and (anon is False or token is not None):
        raise StoreError(
            "requests are to be signed, but there are no credentials of Google's",
            hint="Set GOOGLE_APPLICATION_CREDENTIALS, give token=, or run: gcloud auth application-default login",
        )
    return found or (_ANONYMOUS, "none")


def _surrounding(around: Surroundings) -> tuple[dict[str, str], str] | None:
    for name in ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH"):
        if around.get(name):
            return _of_file(around.get(name)), name
    if around.get("GOOGLE_SERVICE_ACCOUNT_KEY"):
        return {"google_service_account_key": around.get("GOOGLE_SERVICE_ACCOUNT_KEY")}, "GOOGLE_SERVICE_ACCOUNT_KEY"
    if around.get("GOOGLE_APPLICATION_CREDENTIALS"):
        return _of_file(around.get("GOOGLE_APPLICATION_CREDENTIALS")), "GOOGLE_APPLICATION_CREDENTIALS"
    folder = around.get("CLOUDSDK_CONFIG") or f"{around.get('APPDATA') or f'{around.home}/.config'}/gcloud"
    file = f"{folder}/application_default_credentials.json"
    if read_text(file) is not None:
        return _of_file(file), "application default credentials"
    return ({}, "the account of the machine") if looks_like("google", around) else None


def _token(token: Any) -> dict[str, str]:  # noqa: ANN401 - as users give it
    """Return the settings for `token` of gcsfs: a file, its content, or an access token."""
    if isinstance(token, Mapping):
        if token.get("type", "service_account") != "service_account":
            raise UnsupportedError(
                "token= takes the content of a service account's key, no other", hint="Give the path of the file."
            )
        return {"google_service_account_key": json.dumps(dict(token))}
    if token in ("cache", "browser"):
        raise UnsupportedError(f"token={token!r} is a way of gcsfs", hint='Give a file, or token="google_default".')
    if isinstance(token, str) and token.startswith("ya29."):
        return {"google_bearer_token": token}
    if isinstance(token, str) or hasattr(token, "__fspath__"):
        return _of_file(str(token))
    raise UnsupportedError(
        f"token= cannot be of type {type(token).__name__}", hint="Give the path of a file, its content, or a text."
    )


def _of_file(path: str) -> dict[str, str]:
    from omnizarr.store.cloud.sources import read_json  # noqa: PLC0415 - brings the standard library's client along

    kind = read_json(path, "the file of Google's credentials").get("type", "service_account")
    if kind == "service_account":
        return {"google_service_account": path}
    if kind == "authorized_user":
        return {"google_application_credentials": path}
    raise UnsupportedError(
        f"credentials of the kind {kind!r} in {path} cannot be used here",
        hint="Use a key of a service account, or run: gcloud auth application-default login",
    )
