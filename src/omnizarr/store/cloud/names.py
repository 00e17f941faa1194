"""The names of `storage_options`: those of fsspec's file systems, of obstore, and Omnizarr's own.

Each stands for one of: a setting of the kernel's store (`aws_…`, `google_…`, `azure_…`), a setting of how requests are
made (`SETTINGS`), or a wish (`WISHES`) that is weighed together with URL and surroundings.
"""

from __future__ import annotations

from typing import Final

SETTINGS: Final = {
    "attempts": int,
    "pause": float,
    "stall": float,
    "patience": float,
    "requests": int,
    "forbidden_is_missing": bool,
    "conditional": bool,
    "cache": str,
    "cache_bytes": int,
}
"""How requests are made, and of what type that is."""

WISHES: Final = frozenset({
    "anon", "profile", "region", "endpoint", "style", "use_ssl", "verify", "instance_role", "token", "external_id",
    "connection_string", "account_host", "credential", "headers", "bucket", "user_project",
})  # fmt: skip

CREDENTIALS: Final = frozenset({
    "anon", "profile", "instance_role", "token", "credential", "connection_string", "external_id", "headers",
    "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_role_arn", "aws_role_session_name",
    "aws_web_identity_token_file", "aws_container_credentials_relative_uri", "aws_container_credentials_full_uri",
    "google_service_account", "google_service_account_key", "google_application_credentials", "google_bearer_token",
    "azure_storage_account_name", "azure_storage_account_key", "azure_storage_sas_key", "azure_storage_token",
    "azure_client_id", "azure_client_secret", "azure_tenant_id", "azure_federated_token_file", "azure_use_azure_cli",
    "azure_credential_type",
})  # fmt: skip
"""What says who asks; these go together."""

GROUPS: Final = ("client_kwargs", "config_kwargs", "client_options", "retry_config", "config", "s3", "retries")
"""Names whose value is a mapping of further names."""

_COMMON: Final = {
    **{name: name for name in SETTINGS},
    "read_timeout": "stall",
    "requests_timeout": "stall",
    "socket_timeout": "stall",
    "max_attempts": "attempts",
    "total_max_attempts": "attempts",
    "max_retries": "max_retries",
    "retry_timeout": "patience",
    "max_concurrency": "requests",
    "max_pool_connections": "requests",
    "connect_timeout": "connect_timeout",
    "connection_timeout": "connect_timeout",
    "timeout": "timeout",
    "anon": "anon",
    "skip_signature": "anon",
    "endpoint_url": "endpoint",
    "endpoint": "endpoint",
    "use_ssl": "use_ssl",
    "verify": "verify",
    "allow_http": "allow_http",
    "allow_invalid_certificates": "allow_invalid_certificates",
    "proxy_url": "proxy_url",
    "proxy_ca_certificate": "proxy_ca_certificate",
    "proxy_excludes": "proxy_excludes",
    "user_agent": "user_agent",
    "http1_only": "http1_only",
    "http2_only": "http2_only",
    "pool_idle_timeout": "pool_idle_timeout",
    "pool_max_idle_per_host": "pool_max_idle_per_host",
}

_OF_OBJECT_STORE: Final = {
    "s3": (
        "access_key_id", "secret_access_key", "session_token", "s3_express", "imdsv1_fallback", "metadata_endpoint",
        "unsigned_payload", "checksum_algorithm", "container_credentials_relative_uri",
        "container_credentials_full_uri", "container_authorization_token_file", "web_identity_token_file", "role_arn",
        "role_session_name", "endpoint_url_sts", "copy_if_not_exists", "conditional_put", "disable_tagging",
        "disable_bulk_delete", "request_payer", "server_side_encryption", "sse_kms_key_id", "sse_bucket_key_enabled",
        "sse_customer_key_base64",
    ),
    "gcs": ("service_account_key", "bearer_token"),
    "azure": (
        "client_id", "client_secret", "tenant_id", "authority_host", "msi_endpoint", "object_id", "msi_resource_id",
        "federated_token_file", "use_fabric_endpoint", "use_azure_cli", "disable_tagging", "credential_type",
    ),
    "http": (),
}  # fmt: skip

_S3: Final = {
    "key": "aws_access_key_id",
    "username": "aws_access_key_id",
    "secret": "aws_secret_access_key",
    "password": "aws_secret_access_key",
    "token": "aws_session_token",
    "aws_token": "aws_session_token",
    "profile": "profile",
    "profile_name": "profile",
    "aws_profile": "profile",
    "region": "region",
    "region_name": "region",
    "default_region": "region",
    "aws_region": "region",
    "aws_default_region": "region",
    "aws_endpoint": "endpoint",
    "aws_endpoint_url": "endpoint",
    "aws_endpoint_url_s3": "endpoint",
    "aws_skip_signature": "anon",
    "aws_allow_http": "allow_http",
    "addressing_style": "style",
    "virtual_hosted_style_request": "virtual",
    "aws_virtual_hosted_style_request": "virtual",
    "requester_pays": "aws_request_payer",
    "signature_version": "signature_version",
    "instance_role": "instance_role",
    "external_id": "external_id",
    "bucket": "bucket",
    "bucket_name": "bucket",
    "aws_bucket": "bucket",
    "aws_bucket_name": "bucket",
    "proxies": "proxies",
    "s3_additional_kwargs": "s3_additional_kwargs",
}
_GCS: Final = {
    "token": "token",
    "instance_role": "instance_role",
    "google_base_url": "endpoint",
    "base_url": "endpoint",
    "google_skip_signature": "anon",
    "service_account": "google_service_account",
    "service_account_path": "google_service_account",
    "google_service_account": "google_service_account",
    "google_service_account_path": "google_service_account",
    "application_credentials": "google_application_credentials",
    "google_application_credentials": "google_application_credentials",
    "requester_pays": "user_project",
    "bucket": "bucket",
    "bucket_name": "bucket",
    "google_bucket": "bucket",
    "google_bucket_name": "bucket",
}
_AZURE: Final = {
    "account_name": "azure_storage_account_name",
    "azure_storage_account_name": "azure_storage_account_name",
    "account_key": "azure_storage_account_key",
    "access_key": "azure_storage_account_key",
    "master_key": "azure_storage_account_key",
    "azure_storage_account_key": "azure_storage_account_key",
    "azure_storage_access_key": "azure_storage_account_key",
    "azure_storage_master_key": "azure_storage_account_key",
    "sas_token": "azure_storage_sas_key",
    "sas_key": "azure_storage_sas_key",
    "azure_storage_sas_key": "azure_storage_sas_key",
    "azure_storage_sas_token": "azure_storage_sas_key",
    "token": "azure_storage_token",
    "bearer_token": "azure_storage_token",
    "azure_storage_token": "azure_storage_token",
    "tenant": "azure_tenant_id",
    "authority_id": "azure_tenant_id",
    "azure_storage_client_id": "azure_client_id",
    "azure_storage_client_secret": "azure_client_secret",
    "azure_storage_tenant_id": "azure_tenant_id",
    "connection_string": "connection_string",
    "credential": "credential",
    "account_host": "account_host",
    "azure_skip_signature": "anon",
    "azure_storage_endpoint": "endpoint",
    "azure_endpoint": "endpoint",
    "use_emulator": "use_emulator",
    "azure_storage_use_emulator": "use_emulator",
    "azure_allow_http": "allow_http",
    "instance_role": "instance_role",
    "container": "bucket",
    "container_name": "bucket",
    "azure_container_name": "bucket",
}
_HTTP: Final = {"headers": "headers"}

_PREFIXES: Final = {"s3": "aws_", "gcs": "google_", "azure": "azure_", "http": ""}
KINDS: Final = tuple(_PREFIXES)


def names_of(kind: str) -> dict[str, str]:
    """Return what each name stands for in a kind of store."""
    prefix = _PREFIXES[kind]
    own = {f"{start}{name}": f"{prefix}{name}" for name in _OF_OBJECT_STORE[kind] for start in ("", prefix)}
    return {**_COMMON, **own, **{"s3": _S3, "gcs": _GCS, "azure": _AZURE, "http": _HTTP}[kind]}


_BLOCKS: Final = "ranges are planned by the kernel"
_CACHES: Final = "listings are not kept"
_LOOPS: Final = "the kernel has threads of its own"

IGNORED: Final = {
    "default_block_size": _BLOCKS,
    "block_size": _BLOCKS,
    "blocksize": _BLOCKS,
    "default_fill_cache": _BLOCKS,
    "default_cache_type": _BLOCKS,
    "cache_type": _BLOCKS,
    "cache_options": _BLOCKS,
    "size_policy": _BLOCKS,
    "fixed_upload_size": "parts of large objects are sized by the kernel",
    "cache_regions": "the region is chosen once",
    "use_listings_cache": _CACHES,
    "listings_expiry_time": _CACHES,
    "max_paths": _CACHES,
    "cache_timeout": _CACHES,
    "skip_instance_cache": "there is no cache of instances",
    "asynchronous": _LOOPS,
    "loop": _LOOPS,
    "batch_size": _LOOPS,
    "version_aware": "the newest version is read",
    "local_expiry_check": "keys are renewed before they expire",
    "project": "only making a bucket needs it",
    "access": "what the credentials allow, is allowed",
    "consistency": "checksums are verified where the format has them",
    "default_location": "buckets are not made",
    "check_connection": "the first request shows it",
    "secure_serialize": "credentials of a pickled store are in the pickle",
    "session_kwargs": _LOOPS,
    "location_mode": "the primary location is read",
    "assume_container_exists": "buckets are not made",
    "max_concurrency_uploads": _LOOPS,
    "backoff": "pauses between attempts are the kernel's own (pause)",
    "mode": "retries have one way here",
    "simple_links": _CACHES,
    "same_scheme": "redirections are followed where they may lead",
    "encoded": "keys are escaped",
    "get_client": _LOOPS,
    "trust_env": "proxies of the environment are used",
    "payload_signing_enabled": "payloads are signed unless unsigned_payload is set",
    "tcp_keepalive": _LOOPS,
}
"""Names that change nothing here, and why."""
