"""Each source of credentials for S3, against a server on loopback, and that secrets never show."""

from __future__ import annotations

import hashlib
import json
import pickle
import shlex
import sys
import time

import pytest

from omnizarr.errors import StoreError, UnsafeError, UnsupportedError
from omnizarr.store.cloud import keys as keys_module
from omnizarr.store.cloud.options import settle
from omnizarr.store.url.explain import explain
from tests.store.cloud.homes import make_home
from tests.store.cloud.services import later

PLACE = "s3://buc/k"
SERVICE_KEYS = {"AccessKeyId": "GIVEN", "SecretAccessKey": "hush-s", "Token": "hush-t"}
ROLE_XML = (
    "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ROLE</AccessKeyId>"
    "<SecretAccessKey>hush&amp;s</SecretAccessKey><SessionToken>hush-t</SessionToken>"
    "<Expiration>{}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
)
SSO = (
    "[profile p]\nsso_session = work\nsso_account_id = 123\nsso_role_name = My/Role\n"
    "[sso-session work]\nsso_region = eu-west-1\nsso_start_url = https://start.org\n"
)
OLD_SSO = (
    "[profile p]\nsso_start_url = https://start.org\nsso_region = eu-west-1\nsso_account_id = 123\n"
    "sso_role_name = My/Role\n"
)
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "hush"}
METADATA = "AWS_EC2_METADATA_SERVICE"
OF_SERVICES = "[p]\nrole_arn=r\nsource_profile=base\nservices=x\n[services x]\nsts=\n  endpoint_url={url}\n"
STATIC = "aws_access_key_id=BASE\naws_secret_access_key=hush-base\n"


def about(seconds: float, found: float | None) -> bool:
    return found is not None and abs(found - time.time() - seconds) < 60


def assert_hidden(found):
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    for one in (found, again):
        for text in (repr(one), str(one), repr(one.config), str(one.config), repr(one.renew), f"{one.config!s}"):
            assert "hush" not in text
        assert any("hush" in value for value in one.config.values())


# Commands.


def command(tmp_path, printed: str, status: int = 0) -> str:
    script = tmp_path / "give keys.py"
    counter = tmp_path / "count"
    script.write_text(
        f"import sys, pathlib\np = pathlib.Path({str(counter)!r})\n"
        f"p.write_text((p.read_text() if p.exists() else '') + 'x')\n"
        f"print({printed!r})\nprint('hush', file=sys.stderr)\nsys.exit({status})\n"
    )
    return f"[p]\ncredential_process = {shlex.quote(sys.executable)} {shlex.quote(str(script))} --of 'me'\n"


def test_a_command(tmp_path, services):
    printed = {"Version": 1, "AccessKeyId": "CMD", "SecretAccessKey": "hush-s", "SessionToken": "hush-t"}
    around = make_home(tmp_path, {"config": command(tmp_path, json.dumps({**printed, "Expiration": later()}))})
    found = settle(PLACE, {"profile": "p"}, around)
    assert (found.config["aws_access_key_id"], found.config["aws_session_token"]) == ("CMD", "hush-t")
    assert about(3600, found.expires)
    assert_hidden(found)
    settle("s3://buc/other", {"profile": "p"}, around)
    assert (tmp_path / "count").read_text() == "x"  # keys that are still good are not asked for again
    values, expires = pickle.loads(pickle.dumps(found.renew))()
    assert values["aws_secret_access_key"] == "hush-s"
    assert about(3600, expires)
    assert "hush" not in repr(values)
    assert (tmp_path / "count").read_text() == "x"
    keys_module.forget()
    pickle.loads(pickle.dumps(found.renew))()
    assert (tmp_path / "count").read_text() == "xx"


def test_keys_of_a_command_that_never_expire(tmp_path, services):
    printed = {"Version": 1, "AccessKeyId": "CMD", "SecretAccessKey": "hush"}
    found = settle(PLACE, {"profile": "p"}, make_home(tmp_path, {"config": command(tmp_path, json.dumps(printed))}))
    assert found.expires is None
    assert "aws_session_token" not in found.config


def test_keys_that_soon_expire_are_asked_for_again(tmp_path, services):
    printed = {"Version": 1, "AccessKeyId": "CMD", "SecretAccessKey": "hush", "Expiration": later(60)}
    around = make_home(tmp_path, {"config": command(tmp_path, json.dumps(printed))})
    for _ in range(2):
        found = settle(PLACE, {"profile": "p"}, around)
    assert found.renew is not None
    assert about(60, found.renew()[1])
    assert (tmp_path / "count").read_text() == "xxx"


@pytest.mark.parametrize(
    ("printed", "status", "words"),
    [
        ("hush", 0, "no JSON"),
        ('{"Version": 2}', 0, "version 1"),
        ('{"Version": 1, "AccessKeyId": "hush"}', 0, "no keys"),
        ('{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "hush", "Expiration": "soon"}', 0, "no time"),
        ("{}", 3, "ended with 3"),
    ],
)
def test_a_command_that_fails(printed, status, words, tmp_path, services):
    around = make_home(tmp_path, {"config": command(tmp_path, printed, status)})
    with pytest.raises(StoreError, match=words) as caught:
        settle(PLACE, {"profile": "p"}, around)
    assert "hush" not in str(caught.value)
    assert "profile p" in str(caught.value)


def test_a_command_that_is_not_there(tmp_path, services):
    around = make_home(tmp_path, {"config": "[p]\ncredential_process = /no/such/command --hush\n"})
    with pytest.raises(StoreError, match="No such file") as caught:
        settle(PLACE, {"profile": "p"}, around)
    assert "hush" not in str(caught.value)


# Single sign-on.


def signed_in(name: str, seconds: float = 86_400) -> dict[str, str]:
    file = f"home/.aws/sso/cache/{hashlib.sha1(name.encode()).hexdigest()}.json"
    return {file: json.dumps({"accessToken": "hush-token", "expiresAt": later(seconds)})}


@pytest.mark.parametrize(("config", "name"), [(SSO, "work"), (OLD_SSO, "https://start.org")])
def test_single_sign_on(config, name, tmp_path, services):
    credentials = {"accessKeyId": "SSO", "secretAccessKey": "hush-s", "sessionToken": "hush-t"}
    until = int((time.time() + 1800) * 1000)
    services.give("/federation/credentials", {"roleCredentials": {**credentials, "expiration": until}})
    around = make_home(tmp_path, {"config": config, **signed_in(name)}, {"AWS_ENDPOINT_URL_SSO": services.url})
    found = settle(PLACE, {"profile": "p"}, around)
    assert found.config["aws_access_key_id"] == "SSO"
    assert about(1800, found.expires)
    assert_hidden(found)
    _, path, headers, _ = services.seen[0]
    assert path == "/federation/credentials?role_name=My%2FRole&account_id=123"
    assert headers["x-amz-sso_bearer_token"] == "hush-token"
    assert found.renew is not None
    keys_module.forget()
    assert found.renew()[0]["aws_access_key_id"] == "SSO"
    assert len(services.seen) == 2
    assert explain(f"{PLACE}#aws.profile=p", around=around).credentials == "single sign-on of the profile p"
    assert len(services.seen) == 2  # explaining asks nobody


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        ({}, 200, "no token"),
        (signed_in("work", -5), 200, "expired"),
        (signed_in("work"), 401, "not taken"),
        (signed_in("work"), 403, "not allowed"),
        ({next(iter(signed_in("work"))): "hush"}, 200, "no JSON"),
    ],
)
def test_single_sign_on_that_fails(files, status, words, tmp_path, services):
    services.give("/federation/credentials", "hush", status)
    around = make_home(tmp_path, {"config": SSO, **files}, {"AWS_ENDPOINT_URL_SSO": services.url})
    with pytest.raises(StoreError, match=words) as caught:
        settle(PLACE, {"profile": "p"}, around)
    assert "hush" not in str(caught.value)
    if words != "no JSON":
        assert caught.value.hint == "Run: aws sso login --profile p"


@pytest.mark.parametrize(("given", "kept"), [({"refreshToken": "hush-r2"}, "hush-r2"), ({}, "hush-r")], ids=str)
def test_a_token_is_renewed_and_left_to_others(given, kept, tmp_path, services):
    keys = {"accessKeyId": "SSO", "secretAccessKey": "hush-s", "sessionToken": "hush-t", "expiration": 0}
    services.give("/federation/credentials", {"roleCredentials": keys})
    services.give("/token", {"accessToken": "hush-new", "expiresIn": 600, **given})
    file, text = next(iter(signed_in("work", -5).items()))
    more = {"refreshToken": "hush-r", "clientId": "i", "clientSecret": "hush-c", "registrationExpiresAt": later()}
    files = {"config": SSO, file: json.dumps({**json.loads(text), **more, "startUrl": "kept"})}
    environ = {"AWS_ENDPOINT_URL_SSO": services.url, "AWS_ENDPOINT_URL_SSO_OIDC": services.url}
    settle(PLACE, {"profile": "p"}, make_home(tmp_path, files, environ))
    (_, path, _, body), (_, _, headers, _) = services.seen
    asked = {"grantType": "refresh_token", "refreshToken": "hush-r", "clientId": "i", "clientSecret": "hush-c"}
    assert (path, json.loads(body)) == ("/token", asked)
    assert headers["x-amz-sso_bearer_token"] == "hush-new"
    left = json.loads((tmp_path / file).read_text())
    assert (left["accessToken"], left["refreshToken"], left["startUrl"]) == ("hush-new", kept, "kept")
    assert [one.name for one in (tmp_path / file).parent.iterdir()] == [file.rpartition("/")[2]]
    services.give("/token", "hush", 400)
    with pytest.raises(StoreError, match="another is not given") as caught:
        settle(PLACE, {"profile": "p"}, make_home(tmp_path, files, environ))
    assert caught.value.hint == "Run: aws sso login --profile p"
    assert "hush" not in str(caught.value)


def test_a_token_does_not_follow_a_redirection(tmp_path, services):
    services.give("/federation/credentials", "", 302)
    around = make_home(tmp_path, {"config": SSO, **signed_in("work")}, {"AWS_ENDPOINT_URL_SSO": services.url})
    with pytest.raises(StoreError, match="302"):
        settle(PLACE, {"profile": "p"}, around)
    assert len(services.seen) == 1


def test_single_sign_on_without_a_role(tmp_path, services):
    around = make_home(tmp_path, {"config": "[p]\nsso_session = x\n"})
    with pytest.raises(StoreError, match="sso_role_name"):
        settle(PLACE, {"profile": "p"}, around)


# Roles.


def assume(services, config, tmp_path, environ=None):
    services.give("/", ROLE_XML.format(later(900)))
    environ = {"AWS_ENDPOINT_URL_STS": services.url, **(environ or {})}
    return settle(PLACE, {"profile": "p"}, make_home(tmp_path, {"config": config}, environ))


def test_a_role(tmp_path, services):
    config = (
        "[profile p]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\nexternal_id = hush-x\n"
        "region = eu-west-1\nrole_session_name = me\nduration_seconds = 1000\n"
        f"[profile base]\n{STATIC}aws_session_token=hush-b\n"
    )
    found = assume(services, config, tmp_path)
    assert (found.config["aws_access_key_id"], found.config["aws_secret_access_key"]) == ("ROLE", "hush&s")
    assert about(900, found.expires)
    assert_hidden(found)
    method, _, headers, body = services.seen[0]
    assert method == "POST"
    for word in ("Action=AssumeRole", "RoleSessionName=me", "ExternalId=hush-x", "DurationSeconds=1000"):
        assert word in body.decode()
    assert_signed(services.url, headers, body)
    assert found.renew is not None
    assert about(900, found.renew()[1])


def assert_signed(url, headers, body):
    """Have botocore sign the same request at the same moment."""
    auth = pytest.importorskip("botocore.auth")
    request = pytest.importorskip("botocore.awsrequest").AWSRequest("POST", url + "/", data=body)
    credentials = pytest.importorskip("botocore.credentials").Credentials("BASE", "hush-base", "hush-b")
    request.headers["Content-Type"] = headers["content-type"]
    request.headers["X-Amz-Date"] = headers["x-amz-date"]
    request.headers["X-Amz-Security-Token"] = "hush-b"
    request.context["timestamp"] = headers["x-amz-date"]
    signer = auth.SigV4Auth(credentials, "sts", "eu-west-1")
    canonical = signer.canonical_request(request)
    signature = signer.signature(signer.string_to_sign(request, canonical), request)
    assert headers["authorization"].endswith(f"Signature={signature}")
    assert "Credential=BASE/" in headers["authorization"]


@pytest.mark.parametrize(
    ("config", "environ"),
    [
        (f"[p]\nrole_arn=arn:r\nsource_profile=p\n{STATIC}", {}),
        (f"[p]\nrole_arn=arn:r\nsource_profile=q\n[q]\nrole_arn=arn:q\nsource_profile=base\n[base]\n{STATIC}", {}),
        ("[p]\nrole_arn=arn:r\ncredential_source=Environment\n", ENVIRONMENT),
        ("[p]\nrole_arn=arn:r\ncredential_source=EcsContainer\n", {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "{url}/c"}),
        ("[p]\nrole_arn=arn:r\ncredential_source=Ec2InstanceMetadata\n", {f"{METADATA}_ENDPOINT": "{url}"}),
        (f"{OF_SERVICES}[base]\n{STATIC}", {"AWS_ENDPOINT_URL_STS": ""}),
    ],
)
def test_where_a_role_begins(config, environ, tmp_path, services):
    machine(services)
    services.give("/c", {**SERVICE_KEYS, "Expiration": later()})
    environ = {name: value.replace("{url}", services.url) for name, value in environ.items()}
    found = assume(services, config.replace("{url}", services.url), tmp_path, environ)
    assert found.config["aws_access_key_id"] == "ROLE"


@pytest.mark.parametrize(
    ("config", "error", "words"),
    [
        ("[p]\nrole_arn=r\nsource_profile=q\n[q]\nrole_arn=r\nsource_profile=p\n", UnsafeError, "p → q → p"),
        ("[p]\nrole_arn=r\nsource_profile=q\n", StoreError, "no profile 'q'"),
        ("[p]\nrole_arn=r\nsource_profile=q\n[q]\nregion=x\n", StoreError, "no credentials"),
        ("[p]\nrole_arn=r\nsource_profile=p\nmfa_serial=m\n", UnsupportedError, "mfa_serial"),
        ("[p]\nrole_arn=r\ncredential_source=Moon\n", UnsafeError, "Moon"),
        ("[p]\nrole_arn=r\ncredential_source=Environment\n", StoreError, "environment"),
        ("[p]\nrole_arn=r\ncredential_source=EcsContainer\n", StoreError, "container"),
        (f"[p]\nrole_arn=r\nsource_profile=p\nduration_seconds=long\n{STATIC}", UnsafeError, "duration_seconds"),
        ("[p]\nlogin_session=x\n", UnsupportedError, "login session"),
    ],
)
def test_roles_that_cannot_be(config, error, words, tmp_path, services):
    with pytest.raises(error, match=words):
        assume(services, config, tmp_path)


@pytest.mark.parametrize(("status", "text", "words"), [(403, "hush", "answers with 403"), (200, "<hush>", "no keys")])
def test_a_role_that_is_refused(status, text, words, tmp_path, services):
    services.give("/", text, status)
    config = f"[p]\nrole_arn=arn:r\nsource_profile=p\n{STATIC}"
    around = make_home(tmp_path, {"config": config}, {"AWS_ENDPOINT_URL_STS": services.url})
    with pytest.raises(StoreError, match=words) as caught:
        settle(PLACE, {"profile": "p"}, around)
    assert "arn:r" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_role_of_options(tmp_path, services):
    services.give("/", ROLE_XML.format(later(900)))
    options = {"key": "A", "secret": "hush", "role_arn": "arn:r", "endpoint_url_sts": services.url, "external_id": "e"}
    found = settle(PLACE, options, make_home(tmp_path, {}))
    assert found.config["aws_access_key_id"] == "ROLE"
    assert "aws_role_arn" not in found.config
    assert b"ExternalId=e" in services.seen[0][3]
    assert_hidden(found)


# Web identities, containers, machines.


def test_web_identities(tmp_path):
    names = {"AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn:r", "AWS_ROLE_SESSION_NAME": "me"}
    found = settle(PLACE, None, make_home(tmp_path, {}, names))
    expected = {"aws_web_identity_token_file": "/token", "aws_role_arn": "arn:r", "aws_role_session_name": "me"}
    assert expected.items() <= found.config.items()
    assert "aws_skip_signature" not in found.config
    config = "[default]\nrole_arn=arn:q\nweb_identity_token_file=/other\n"
    found = settle(PLACE, None, make_home(tmp_path, {"config": config}, names))
    assert found.config["aws_role_arn"] == "arn:q"


def test_a_container_of_ecs_is_left_to_the_kernel(tmp_path):
    found = settle(PLACE, None, make_home(tmp_path, {}, {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/x"}))
    assert found.config["aws_container_credentials_relative_uri"] == "/v2/x"
    assert found.credentials == "the role of the container"


@pytest.mark.parametrize("by_file", [False, True])
def test_a_container(by_file, tmp_path, services):
    services.give("/creds", {**SERVICE_KEYS, "Expiration": later()})
    environ = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{services.url}/creds"}
    name = "AWS_CONTAINER_AUTHORIZATION_TOKEN"
    environ |= {f"{name}_FILE": "{root}/token"} if by_file else {name: "hush-a"}
    found = settle(PLACE, None, make_home(tmp_path, {"token": "hush-a\n"}, environ))
    assert found.config["aws_access_key_id"] == "GIVEN"
    assert about(3600, found.expires)
    assert services.seen[0][2]["authorization"] == "hush-a"
    assert_hidden(found)


@pytest.mark.parametrize("url", ["http://example.org/x", "ftp://127.0.0.1/x", "http://169.254.170.2.evil.org/"])
def test_a_container_elsewhere_is_not_asked(url, tmp_path):
    with pytest.raises(UnsafeError, match="AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        settle(PLACE, None, make_home(tmp_path, {}, {"AWS_CONTAINER_CREDENTIALS_FULL_URI": url}))


def machine(services):
    services.give("/latest/api/token", "hush-imds")
    services.give("/latest/meta-data/iam/security-credentials/", "my-role\n")
    services.give("/latest/meta-data/iam/security-credentials/my-role", {**SERVICE_KEYS, "Expiration": later()})


def test_a_machine_of_amazon_with_a_role(tmp_path, services):
    machine(services)
    environ = {f"{METADATA}_ENDPOINT": services.url}
    found = settle(PLACE, None, make_home(tmp_path, {"vendor": "Amazon EC2\n"}, environ))
    assert found.config["aws_metadata_endpoint"] == services.url
    assert "aws_skip_signature" not in found.config
    assert services.seen[1][2]["x-aws-ec2-metadata-token"] == "hush-imds"


@pytest.mark.parametrize("vendor", ["Amazon EC2\n", "QEMU\n", ""])
@pytest.mark.parametrize("disabled", ["", "true"])
def test_machines_without_a_role_sign_nothing(vendor, disabled, tmp_path, services):
    environ = {f"{METADATA}_ENDPOINT": services.url, "AWS_EC2_METADATA_DISABLED": disabled}
    around = make_home(tmp_path, {"vendor": vendor}, environ)
    found = settle(PLACE, None, around)
    assert found.config["aws_skip_signature"] == "true"
    assert found.credentials == "none"
    assert bool(services.seen) is (vendor.startswith("Amazon") and not disabled)
    found = settle(PLACE, {"instance_role": True}, around)
    assert "aws_skip_signature" not in found.config


def test_explaining_says_why_nothing_is_signed(tmp_path):
    notes = explain(PLACE, around=make_home(tmp_path, {})).notes
    assert any("does not look like one of Amazon's" in note.text for note in notes)
