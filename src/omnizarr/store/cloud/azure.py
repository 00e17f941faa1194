"""Settings for Microsoft's object store."""

from __future__ import annotations

from typing import Final

from omnizarr.errors import StoreError, UnsafeError, UnsupportedError
from omnizarr.store.cloud.secret import Config
from omnizarr.store.cloud.settled import Settled, checked_endpoint
from omnizarr.store.cloud.wishes import Wishes
from omnizarr.store.uri import quote
from omnizarr.store.url.clouds import EMULATED, CloudPlace
from omnizarr.store.url.machine import looks_like
from omnizarr.store.url.settings import Surroundings

_ACCOUNT, _KEY, _SAS = "azure_storage_account_name", "azure_storage_account_key", "azure_storage_sas_key"
_EMULATOR: Final = "http://127.0.0.1:10000"
# Printed in the manual of Azurite; it opens nothing but that.
_EMULATOR_KEY: Final = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_WAYS: Final = (
    (_KEY,),
    (_SAS,),
    ("azure_storage_token",),
    ("azure_client_id", "azure_client_secret", "azure_tenant_id"),
    ("azure_client_id", "azure_federated_token_file", "azure_tenant_id"),
    ("azure_use_azure_cli",),
    ("azure_credential_type",),
    ("azure_msi_endpoint",),
)
"""Settings that are credentials together."""
_MACHINE: Final = ({"azure_credential_type": "managed_identity"}, "the identity of the machine")
_ENVIRONMENT: Final = {
    _ACCOUNT: ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"),
    _KEY: ("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCESS_KEY"),
    _SAS: ("AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY"),
    "azure_storage_token": ("AZURE_STORAGE_TOKEN",),
    "azure_client_id": ("AZURE_STORAGE_CLIENT_ID", "AZURE_CLIENT_ID"),
    "azure_client_secret": ("AZURE_STORAGE_CLIENT_SECRET", "AZURE_CLIENT_SECRET"),
    "azure_tenant_id": ("AZURE_STORAGE_TENANT_ID", "AZURE_TENANT_ID"),
    "azure_authority_host": ("AZURE_AUTHORITY_HOST",),
    "azure_federated_token_file": ("AZURE_FEDERATED_TOKEN_FILE",),
    "azure_msi_endpoint": ("IDENTITY_ENDPOINT",),
}


def settle_azure(place: CloudPlace, wishes: Wishes, around: Surroundings) -> Settled:
    """Decide about a place on Microsoft's store.

    Raises:
        UnsafeError: If nothing says which account, or options contradict each other.
        StoreError: If requests are to be signed, and there are no credentials.
    """
    config = _given(wishes)
    if wishes.text("bucket") not in ("", place.bucket):
        raise UnsafeError(f"the options name the container {wishes.text('bucket')!r}, the URL {place.bucket!r}")
    around_us = {name: text for name, names in _ENVIRONMENT.items() if (text := _first(names, around))}
    around_us |= _of_string(around.get("AZURE_STORAGE_CONNECTION_STRING"))
    account = place.account or config.get(_ACCOUNT) or around_us.get(_ACCOUNT, "")
    if config.get(_ACCOUNT, account) != account:
        raise UnsafeError(f"the options name the account {config[_ACCOUNT]!r}, the URL {account!r}")
    if not account:
        raise UnsafeError(
            f"nothing says in which account the container {place.bucket!r} is",
            hint='Give storage_options={"account_name": …}, or write abfss://container@account.dfs.core.windows.net/key.',
        )
    endpoint = _endpoint(place, account, config, wishes)
    found, words = _credentials(account, config, around_us, wishes, around)
    config |= {_ACCOUNT: account, "azure_container_name": place.bucket, "azure_storage_endpoint": endpoint, **found}
    if endpoint.startswith("http:"):
        config["allow_http"] = "true"
    tail = f"{place.bucket}/{place.key}" if place.key else place.bucket
    return Settled(
        kind="azure",
        config=config,
        prefix=place.key,
        uri=f"{endpoint}/{quote(tail)}",
        settings=wishes.settings,
        credentials=words,
        notes=(*place.notes, *wishes.notes),
    )


def _first(names: tuple[str, ...], around: Surroundings) -> str:
    return next((text for name in names if (text := around.get(name))), "")


def _given(wishes: Wishes) -> Config:
    """Return what options say, those of a connection string too."""
    config = Config(wishes.config)
    for name, text in _of_string(wishes.text("connection_string")).items():
        if config.setdefault(name, text) != text:
            raise UnsafeError("connection_string and another option say different things")
    if wishes.wishes.get("use_emulator"):
        config.setdefault(_ACCOUNT, EMULATED)
        config.setdefault("azure_storage_endpoint", f"{_EMULATOR}/{config[_ACCOUNT]}")
    credential = wishes.wishes.get("credential")
    if isinstance(credential, str):
        config.setdefault(_KEY, credential)
    elif credential is not None:
        raise UnsupportedError(
            f"credential= cannot be an object of type {type(credential).__name__}",
            hint="Give account_key, sas_token, token, or client_id with client_secret and tenant_id.",
        )
    return config


def _of_string(text: str) -> dict[str, str]:
    """Return the settings of a connection string.

    https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
    """
    said = {name.strip().lower(): value.strip() for name, _, value in (part.partition("=") for part in text.split(";"))}
    if said.get("usedevelopmentstorage", "").lower() == "true":
        return {_ACCOUNT: EMULATED, _KEY: _EMULATOR_KEY, "azure_storage_endpoint": f"{_EMULATOR}/{EMULATED}"}
    names = {"accountname": _ACCOUNT, "accountkey": _KEY, "sharedaccesssignature": _SAS}
    found = {target: said[name] for name, target in names.items() if said.get(name)}
    scheme, suffix = said.get("defaultendpointsprotocol", "https"), said.get("endpointsuffix", "")
    if said.get("blobendpoint"):
        found["azure_storage_endpoint"] = said["blobendpoint"]
    elif suffix and _ACCOUNT in found:
        found["azure_storage_endpoint"] = f"{scheme}://{found[_ACCOUNT]}.blob.{suffix}"
    return found


def _endpoint(place: CloudPlace, account: str, config: Config, wishes: Wishes) -> str:
    host = wishes.text("account_host")
    said = wishes.text("endpoint") or config.get("azure_storage_endpoint", "") or (host and f"https://{host}")
    if account == EMULATED and not said and not place.endpoint:
        said = f"{_EMULATOR}/{account}"
    return checked_endpoint(said or place.endpoint or f"https://{account}.blob.core.windows.net")


def _credentials(
    account: str, config: Config, around_us: dict[str, str], wishes: Wishes, around: Surroundings
) -> tuple[dict[str, str], str]:
    anon = wishes.wishes.get("anon")
    given = any(all(name in config for name in way) for way in _WAYS)
    if anon and given:
        raise UnsafeError("the options have credentials, and anon, which uses none", hint="Leave one of them out.")
    if given:
        return {}, "the options"
    if anon:
        return {"azure_skip_signature": "true"}, "none"
    if account == EMULATED:
        return {_KEY: _EMULATOR_KEY}, "the key of Azurite"
    if wishes.wishes.get("instance_role"):
        return _MACHINE
    found = _surrounding(account, {**around_us, **config}, around_us, around)
    if found is None and anon is False:
        raise StoreError(
            "requests are to be signed (anon=False), but there are no credentials of Azure's",
            hint="Give account_key or sas_token, set AZURE_STORAGE_ACCOUNT_KEY, or anon=True.",
        )
    return found or ({"azure_skip_signature": "true"}, "none")


def _surrounding(
    account: str, together: dict[str, str], around_us: dict[str, str], around: Surroundings
) -> tuple[dict[str, str], str] | None:
    # Those of the environment are for its own account, if it names one.
    own = around_us.get(_ACCOUNT, account) == account
    for way in _WAYS:
        if all(name in together for name in way) and (own or not {_KEY, _SAS} & set(way)):
            names = {*way, *(name for name in ("azure_authority_host",) if name in together)}
            return {name: together[name] for name in names}, "the environment"
    return _MACHINE if looks_like("microsoft", around) else None
