"""Situations of profiles, keys, regions and endpoints, and what is selected in each."""

from __future__ import annotations

from typing import Any, NamedTuple

US, EU = "us-east-1", "eu-west-1"
ENV = {"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}
NOBODY = "-"


class Case(NamedTuple):
    """A situation, and what is selected in it; an endpoint that is not told is that of the region."""

    name: str
    key: str = NOBODY
    region: str = US
    endpoint: str = ""
    url: str = "s3://buc/k"
    files: dict[str, str] = {}  # noqa: RUF012 - never changed
    env: dict[str, str] = {}  # noqa: RUF012 - as above
    options: dict[str, Any] = {}  # noqa: RUF012 - as above
    warning: str = ""


def keyed(name: str, more: str = "") -> str:
    return f"aws_access_key_id={name}\naws_secret_access_key=s\n{more}\n"


DEFAULT = {"credentials": "[default]\n" + keyed("DEF", "region=d1")}
TWO = {"credentials": "[default]\n" + keyed("DEF", "region=d1") + "[p]\n" + keyed("P", "region=p1")}
CONFIG = {"config": "[profile p]\n" + keyed("P", "region=p1") + "[default]\n" + keyed("DEF")}

KEYS = [
    # Profiles.
    Case("nothing"),
    Case("default", "DEF", "d1", files=DEFAULT),
    Case("default in the config", "DEF", files=CONFIG),
    Case("profile of the URL", "P", "p1", url="s3://buc/k#aws.profile=p", files=TWO),
    Case("profile of the URL in upper case", "P", "p1", url="s3://buc/k#mode=zarr&AWS.PROFILE=p", files=TWO),
    Case("profile in brackets", "P", "p1", url="[aws.profile=p]s3://buc/k", files=TWO),
    Case(
        "a comma does not separate keys",
        "DEF",
        "d1",
        url="s3://buc/k#mode=nczarr,awsprofile=p",
        files=TWO,
        warning="'awsprofile' is no mode",
    ),
    Case("profile of the .rc", "P", "p1", files={**TWO, "ncrc": "AWS.PROFILE=p"}),
    Case(
        "profile of the working folder's .rc",
        "P",
        "p1",
        files={**TWO, "ncrc": "AWS.PROFILE=q", "work": "AWS.PROFILE=p"},
    ),
    Case("profile of .dodsrc", "P", "p1", files={**TWO, "ncrc": "AWS.PROFILE=q", "dodsrc": "AWS.PROFILE=p"}),
    Case(
        "profile of the .rc for a host",
        "P",
        "p1",
        files={**TWO, "ncrc": "[s3://buc]AWS.PROFILE=p\nAWS.PROFILE=default"},
    ),
    Case(".rc for another host", "DEF", "d1", files={**TWO, "ncrc": "[s3://other]AWS.PROFILE=p"}),
    Case(".rc in lower case", "DEF", "d1", files={**TWO, "ncrc": "aws.profile=p"}),
    Case(".rc ignored", "DEF", "d1", files={**TWO, "ncrc": "AWS.PROFILE=p"}, env={"NCRCENV_IGNORE": "1"}),
    Case("the only .rc", "P", "p1", files={**TWO, "rc": "AWS.PROFILE=p"}, env={"NCRCENV_RC": "{root}/rc"}),
    Case("URL before .rc", "DEF", "d1", url="s3://buc/k#aws.profile=default", files={**TWO, "ncrc": "AWS.PROFILE=p"}),
    Case(".rc before AWS_PROFILE", "P", "p1", files={**TWO, "ncrc": "AWS.PROFILE=p"}, env={"AWS_PROFILE": "default"}),
    Case("AWS_PROFILE", "P", "p1", files=TWO, env={"AWS_PROFILE": "p"}),
    Case("AWS_PROFILE that is not there", "DEF", "d1", files=TWO, env={"AWS_PROFILE": "q"}),
    Case("AWS_PROFILE=no", files=TWO, env={"AWS_PROFILE": "no", **ENV}),
    Case("profile no", url="s3://buc/k#aws.profile=no", files=TWO, env=ENV),
    Case("profile none", url="s3://buc/k#aws.profile=none", files=TWO, env=ENV),
    Case("profile no of the .rc", files={**TWO, "ncrc": "AWS.PROFILE=no"}, env=ENV),
    Case("option profile first", "P", "p1", url="s3://buc/k#aws.profile=default", files=TWO, options={"profile": "p"}),
    Case("option profile no", files=TWO, env=ENV, options={"profile": "no"}),
    Case(
        "credentials over config",
        "B",
        "r2",
        files={"config": "[p]\n" + keyed("A", "region=r1"), "credentials": "[p]\n" + keyed("B", "region=r2")},
        env={"AWS_PROFILE": "p"},
    ),
    Case(
        "indented as in the manual",
        "DEF",
        "z1",
        files={"credentials": "[default]\n    aws_access_key_id=DEF\n    aws_secret_access_key=s\n    aws_region=z1\n"},
    ),
    Case(
        "comments and spaces",
        "DEF",
        "d1",
        files={
            "credentials": ";x\n#y\n[ default ]\naws_access_key_id =DEF \naws_secret_access_key = a=b== \nregion = d1\n"
        },
    ),
    Case(
        "another home",
        "DEF",
        "d1",
        files={"else/.aws/credentials": DEFAULT["credentials"]},
        env={"NC_TEST_AWS_DIR": "{root}/else"},
    ),
    Case(
        "AWS_SHARED_CREDENTIALS_FILE",
        "DEF",
        "d1",
        files={"c": DEFAULT["credentials"]},
        env={"AWS_SHARED_CREDENTIALS_FILE": "{root}/c"},
    ),
    Case(
        "AWS_CONFIG_FILE",
        "P",
        "p1",
        files={"c": CONFIG["config"]},
        env={"AWS_CONFIG_FILE": "{root}/c", "AWS_PROFILE": "p"},
    ),
    Case("half a key", region="d1", files={"credentials": "[default]\naws_access_key_id=DEF\nregion=d1"}),
    # The environment.
    Case("environment", "ENV", env=ENV),
    Case("environment after the default profile", "DEF", "d1", files=DEFAULT, env=ENV),
    Case("environment where the profile has no key", "ENV", "d1", files={"config": "[default]\nregion=d1"}, env=ENV),
    Case("half an environment", env={"AWS_ACCESS_KEY_ID": "ENV"}),
    # Options.
    Case("key and secret", "OPT", files=DEFAULT, env=ENV, options={"key": "OPT", "secret": "s", "region": US}),
    Case(
        "region of the profile with key of options", "OPT", "d1", files=DEFAULT, options={"key": "OPT", "secret": "s"}
    ),
    Case("username and password", "OPT", options={"username": "OPT", "password": "s"}),
    Case("names of obstore", "OPT", "o1", options={"access_key_id": "OPT", "secret_access_key": "s", "region": "o1"}),
    Case(
        "names of the environment",
        "OPT",
        "o1",
        options={"AWS_ACCESS_KEY_ID": "OPT", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "o1"},
    ),
    Case(
        "client_kwargs",
        "OPT",
        "o1",
        "http://h:1",
        options={
            "client_kwargs": {
                "aws_access_key_id": "OPT",
                "aws_secret_access_key": "s",
                "region_name": "o1",
                "endpoint_url": "http://h:1",
            }
        },
    ),
    Case("anon", region="d1", files=DEFAULT, env=ENV, options={"anon": True}),
    Case("skip_signature", region="d1", files=DEFAULT, options={"skip_signature": "true"}),
    Case("nothing said by None", "DEF", "d1", files=DEFAULT, options={"key": None, "anon": None}),
    Case("anon=False", "DEF", "d1", files=DEFAULT, options={"anon": False}),
]
