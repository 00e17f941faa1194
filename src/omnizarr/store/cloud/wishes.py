"""What `storage_options` ask for, sorted: settings of the store, of its requests, and wishes to be weighed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from importlib import import_module
from typing import Any, Final

from omnizarr.errors import UnsafeError, UnsupportedError
from omnizarr.store.cloud.names import CREDENTIALS, GROUPS, IGNORED, SETTINGS, WISHES, names_of
from omnizarr.store.cloud.secret import Config
from omnizarr.store.url.modes import Note

_TRUE: Final = ("1", "true", "on", "yes", "y")
_FALSE: Final = ("0", "false", "off", "no", "n", "")
_DURATIONS: Final = ("connect_timeout", "timeout", "pool_idle_timeout")
_FLAGS: Final = (
    "anon", "use_ssl", "instance_role", "allow_http", "allow_invalid_certificates", "aws_request_payer",
    "aws_s3_express", "aws_imdsv1_fallback", "aws_unsigned_payload", "aws_disable_tagging", "aws_disable_bulk_delete",
    "azure_use_azure_cli", "azure_use_fabric_endpoint", "azure_disable_tagging", "http1_only", "http2_only",
)  # fmt: skip
_ENCRYPTION: Final = {
    "ServerSideEncryption": "aws_server_side_encryption",
    "SSEKMSKeyId": "aws_sse_kms_key_id",
    "BucketKeyEnabled": "aws_sse_bucket_key_enabled",
    "RequestPayer": "aws_request_payer",
}


@dataclass(slots=True)
class Wishes:
    """All that options ask for. Values of wishes are never shown."""

    config: Config = field(default_factory=Config)
    settings: dict[str, float | int | str] = field(default_factory=dict)
    wishes: dict[str, Any] = field(default_factory=dict, repr=False)
    notes: list[Note] = field(default_factory=list)

    def fill_up(self, others: Wishes) -> None:
        """Add what is not said here; credentials only if there are none here, and requests may be signed."""
        named = {*self.config, *(name for name, value in self.wishes.items() if value is not False)}
        dropped = CREDENTIALS if named & CREDENTIALS else frozenset[str]()
        for name, text in others.config.items():
            if name not in dropped:
                self.config.setdefault(name, text)
        for name, wish in others.wishes.items():
            if name not in dropped:
                self.wishes.setdefault(name, wish)
        self.settings = {**others.settings, **self.settings}
        self.notes += others.notes

    def text(self, name: str) -> str:
        """Return a wish that is a text; empty if there is none.

        Raises:
            UnsafeError: If it is something else.
        """
        value = self.wishes.get(name, "")
        if isinstance(value, str):
            return value
        raise _wrong(name, "a text", value)


def understand_options(kind: str, options: Mapping[str, Any] | None) -> Wishes:
    """Sort the options for a kind of store.

    Raises:
        UnsupportedError: If a name is not known, or asks for something that cannot be done here.
        UnsafeError: If a value is not what its name asks for, or two names contradict each other.

    >>> found = understand_options("s3", {"key": "a", "secret": "b", "client_kwargs": {"region_name": "eu-west-1"}})
    >>> found.config, found.wishes
    (Config({'aws_access_key_id': '…', 'aws_secret_access_key': '…'}), {'region': 'eu-west-1'})
    """
    found = Wishes()
    if not options:
        return found
    names = names_of(kind)
    said: dict[str, tuple[str, object]] = {}
    for name, value in _flat(kind, options, names):
        lower = name.lower()
        if lower in IGNORED and lower not in names:
            found.notes.append(Note(name, f"ignored: {IGNORED[lower]}"))
            continue
        target = names[lower]
        if target in said and said[target][1] != value:
            raise UnsafeError(f"the options {said[target][0]} and {name} say different things")
        said[target] = name, value
        _put(found, target, name, value)
    return found


def _flat(kind: str, options: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield names and values, those of groups too; what is None is not said."""
    for name, value in options.items():
        if not isinstance(name, str):
            raise UnsafeError(f"the option {name!r} is no text")
        if value is None:
            continue
        if name in GROUPS:
            if not isinstance(value, Mapping):
                raise _wrong(name, "a mapping", value)
            yield from _flat(kind, value, names)
        elif name.lower() in names or name.lower() in IGNORED:
            yield name, value
        else:
            raise _unknown(kind, name, names)


def _unknown(kind: str, name: str, names: Mapping[str, str]) -> UnsupportedError:
    known = [*names, *IGNORED, *GROUPS]
    near: list[str] = import_module("difflib").get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return UnsupportedError(
        f"there is no option {name!r} for a store of the kind {kind}",
        hint=f"did you mean {near[0]!r}?" if near else "See the page on credentials for the names that there are.",
    )


def _put(found: Wishes, target: str, name: str, value: Any) -> None:  # noqa: ANN401 - as users give it; one per kind of name
    if target in SETTINGS:
        found.settings[target] = _setting(target, name, value)
        return
    if target == "max_retries":
        found.settings["attempts"] = int(_number(name, value)) + 1
        return
    if target == "virtual":
        found.wishes["style"] = "virtual" if flag(name, value) else "path"
        return
    if target == "signature_version":
        # botocore has an object of its own for requests without a signature.
        if type(value).__name__ == "UNSIGNED" or value == "unsigned":
            found.wishes["anon"] = True
        return
    if target == "proxies":
        found.config |= _proxies(name, value)
        return
    if target == "s3_additional_kwargs":
        _additional(found, value)
        return
    if target in _FLAGS:
        value = flag(name, value)
    if target in WISHES or target == "use_emulator":
        found.wishes[target] = value
    elif target in _DURATIONS:
        found.config[target] = f"{max(1, round(_number(name, value) * 1000))}ms"
    else:
        found.config[target] = _text(name, value)


def _additional(found: Wishes, value: object) -> None:
    if not isinstance(value, Mapping):
        raise _wrong("s3_additional_kwargs", "a mapping", value)
    for name, one in value.items():
        if name == "RequestPayer":
            found.config["aws_request_payer"] = "true"
        elif name in _ENCRYPTION:
            found.config[_ENCRYPTION[name]] = _text(name, one)
        else:
            found.notes.append(Note(f"s3_additional_kwargs {name}", "ignored: it is no part of any request here"))


def _proxies(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise _wrong(name, "a mapping", value)
    proxy = value.get("https") or value.get("http")
    return {"proxy_url": _text(name, proxy)} if proxy else {}


def _setting(target: str, name: str, value: object) -> float | int | str:
    kind = SETTINGS[target]
    if kind is bool:
        return int(flag(name, value))
    if kind is str:
        if isinstance(value, (bool, int, float)):
            raise _wrong(name, "a folder", value)
        return _text(name, value)
    number = _number(name, value)
    return int(number) if kind is int else number


def flag(name: str, value: object) -> bool:
    """Return yes or no, as users write it.

    Raises:
        UnsafeError: If it is neither.
    """
    if isinstance(value, (bool, int)):
        return bool(value)
    text = value.strip().lower() if isinstance(value, str) else None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise _wrong(name, "true or false", value)


def _number(name: str, value: object) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    try:
        number = float(value.strip().removesuffix("s")) if isinstance(value, str) else float(value)  # type: ignore[arg-type]  # whatever it is, it is tried
    except (TypeError, ValueError):
        raise _wrong(name, "a number", value) from None
    if not math.isfinite(number) or number < 0 or isinstance(value, bool):
        raise _wrong(name, "a number", value)
    return number


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if hasattr(value, "__fspath__"):
        return str(value)
    raise _wrong(name, "a text", value)


def _wrong(name: str, wanted: str, value: object) -> UnsafeError:
    # The value may be a secret.
    return UnsafeError(f"the option {name} is to be {wanted}, not of type {type(value).__name__}")
