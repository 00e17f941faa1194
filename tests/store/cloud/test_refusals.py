"""Sources of credentials that give none, and what is said then."""

from __future__ import annotations

import json

import pytest

from omnizarr.errors import StoreError, UnsafeError, UnsupportedError
from omnizarr.store.cloud import keys as keys_module
from omnizarr.store.cloud.find import found_for
from omnizarr.store.cloud.options import settle
from omnizarr.store.cloud.sources import Machine, read_json
from omnizarr.store.cloud.sso import Sso
from omnizarr.store.url.aws import Choice
from tests.store.cloud.homes import make_home
from tests.store.cloud.services import later

PLACE = "s3://buc/k"


def roles(number):
    """Write a chain of so many roles, each of the next, and the keys of the last."""
    lines = [f"[r{at}]\nrole_arn=arn:{at}\nsource_profile=r{at + 1}\n" for at in range(number)]
    return "".join(lines) + f"[r{number}]\naws_access_key_id=A\naws_secret_access_key=hush\n"


def test_chains_of_roles_have_an_end(tmp_path):
    choice = Choice("r0", "eu-west-1", "", "profile", "a role of the profile r0", True, "", ())
    around = make_home(tmp_path, {"config": roles(8)}, {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"})
    found = found_for(choice, around, ask_machine=False)
    assert (found.source.arn, found.source.endpoint) == ("arn:0", "")
    around = make_home(tmp_path, {"config": roles(9)})
    with pytest.raises(UnsafeError, match="more than 8 roles follow from the profile 'r0'"):
        found_for(choice, around, ask_machine=False)


@pytest.mark.parametrize(
    ("value", "endpoint"), [("", "https://sts.example"), ("0", "https://sts.example"), ("Yes", "")]
)
def test_endpoints_that_are_to_be_ignored(value, endpoint, tmp_path):
    choice = Choice("r0", "eu-west-1", "", "profile", "a role of the profile r0", True, "", ())
    environ = {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": value, "AWS_ENDPOINT_URL_STS": "https://sts.example"}
    found = found_for(choice, make_home(tmp_path, {"config": roles(1)}, environ), ask_machine=False)
    assert found.source.endpoint == endpoint


def test_a_machine_without_a_role(services):
    services.give("/latest/api/token", "t")
    services.give("/latest/meta-data/iam/security-credentials/", "\n")
    with pytest.raises(StoreError, match="metadata service names no role") as caught:
        Machine(services.url).keys()
    assert "Attach a role" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"), [("[]", "is no JSON object"), ("x=hush", "is no JSON object"), (None, "is not there")]
)
def test_files_of_settings(text, words, tmp_path):
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(StoreError, match=f"the file, {path}, {words}") as caught:
        read_json(str(path), "the file")
    assert "x=hush" not in str(caught.value)
    path.write_text('{"a": 1}')
    assert read_json(str(path), "the file") == {"a": 1}


def sso(tmp_path, services, **token):
    file = tmp_path / "token.json"
    file.write_text(json.dumps({"accessToken": "hush", "expiresAt": later(), **token}))
    return Sso("p", str(file), services.url, "eu-west-1", "1", "r", services.url)


@pytest.mark.parametrize("answer", [{}, {"roleCredentials": []}, {"roleCredentials": {"accessKeyId": "A"}}])
def test_sign_on_without_keys(answer, tmp_path, services):
    services.give("/federation/credentials", answer)
    with pytest.raises(StoreError, match="the answer of single sign-on of the profile p has no keys"):
        sso(tmp_path, services).keys()


@pytest.mark.parametrize("answer", [{}, {"accessToken": "hush"}, {"accessToken": 5, "expiresIn": 5}])
def test_another_token_that_does_not_come(answer, tmp_path, services):
    services.give("/token", answer)
    more = {"refreshToken": "r", "clientId": "i", "clientSecret": "s", "registrationExpiresAt": later()}
    with pytest.raises(StoreError, match="another did not come") as caught:
        sso(tmp_path, services, expiresAt=later(-5), **more).keys()
    assert caught.value.hint == "Run: aws sso login --profile p"


def test_credentials_that_the_kernel_finds_itself(tmp_path):
    options = {"web_identity_token_file": "/t", "role_arn": "arn:r", "role_session_name": "s"}
    found = settle(PLACE, options, make_home(tmp_path, {}))
    assert found.config["aws_web_identity_token_file"] == "/t"
    assert found.config["aws_role_arn"] == "arn:r"
    assert (found.credentials, found.renew) == ("the options", None)
    with pytest.raises(UnsafeError, match="role_arn needs an access key"):
        settle(PLACE, {"role_arn": "arn:r"}, make_home(tmp_path, {}))


def test_credentials_of_google_of_another_kind(tmp_path):
    path = tmp_path / "k.json"
    path.write_text('{"type": "external_account"}')
    with pytest.raises(UnsupportedError, match="of the kind 'external_account'") as caught:
        settle("gs://b/k", {"token": str(path)}, make_home(tmp_path, {}))
    assert "gcloud auth" in caught.value.hint


def test_the_profile_without_credentials_is_not_overruled(tmp_path):
    for name in ("no", "none"):
        found = settle(PLACE, {"profile": name, "instance_role": True}, make_home(tmp_path, {}))
        assert found.config["aws_skip_signature"] == "true"
    found = settle(PLACE, {"instance_role": True}, make_home(tmp_path, {}))
    assert "aws_skip_signature" not in found.config


def test_old_names_of_tokens(tmp_path):
    text = "[p]\naws_access_key_id=A\naws_secret_access_key=s\naws_security_token=t\n"
    found = settle(PLACE, {"profile": "p"}, make_home(tmp_path, {"credentials": text}))
    assert found.config["aws_session_token"] == "t"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T00:00:10", 10.0),
        ("1970-01-01T00:00:10UTC", 10.0),
        ("", None),
        (None, None),
    ],
)
def test_moments(text, moment):
    assert keys_module.unix_time(text, "me") == moment
    with pytest.raises(StoreError, match="me gives keys until 'soon', which is no time"):
        keys_module.unix_time("soon", "me")
