"""Settings of which secrets never show."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from omnizarr.store.url.profiles import Hidden

_SHOWN: Final = frozenset({
    "allow_http", "allow_invalid_certificates", "connect_timeout", "timeout", "aws_region", "aws_bucket_name",
    "aws_endpoint", "aws_virtual_hosted_style_request", "aws_skip_signature", "aws_request_payer", "aws_role_arn",
    "aws_imdsv1_fallback", "aws_metadata_endpoint", "google_bucket_name", "google_base_url", "google_skip_signature",
    "google_service_account", "google_application_credentials", "azure_storage_account_name", "azure_container_name",
    "azure_storage_endpoint", "azure_skip_signature", "azure_storage_use_emulator", "url",
})  # fmt: skip


class Config(Hidden):
    """Settings of a store: what is known to be no secret shows, all else as "…".

    >>> Config({"aws_region": "eu-west-1", "aws_secret_access_key": "hush"})
    Config({'aws_region': 'eu-west-1', 'aws_secret_access_key': '…'})
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({ {name: shown(name, value) for name, value in sorted(self.items())} })"

    __str__ = __repr__


def shown(name: str, value: str) -> str:
    """Return a value as it may be shown."""
    if name not in _SHOWN:
        return "…"
    return without_secrets(value) if "://" in value else value


def without_secrets(url: str) -> str:
    """Return a URL without password, query and fragment.

    >>> without_secrets("https://me:hush@example.org:80/a?sig=hush#x")
    'https://example.org:80/a'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "…"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
