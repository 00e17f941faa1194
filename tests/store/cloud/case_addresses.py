"""Situations of regions, endpoints and styles of addresses, and what is selected in each."""

from __future__ import annotations

from tests.store.cloud.cases import DEFAULT, EU, US, Case

ADDRESSES = [
    # Regions.
    Case(
        "region of the URL",
        "DEF",
        "u1",
        url="s3://buc/k#aws.region=u1",
        files={**DEFAULT, "ncrc": "AWS.REGION=r1"},
        env={"AWS_REGION": "e1"},
    ),
    Case("region of the .rc", "DEF", "r1", files={**DEFAULT, "ncrc": "AWS.REGION=r1"}, env={"AWS_REGION": "e1"}),
    Case("region of the profile", "DEF", "d1", files=DEFAULT, env={"AWS_REGION": "e1"}),
    Case(
        "aws_region of the profile", region="d1", files={"config": "[default]\naws_region=d1"}, env={"AWS_REGION": "e1"}
    ),
    Case("AWS_REGION", region="e1", env={"AWS_REGION": "e1", "AWS_DEFAULT_REGION": "e2"}),
    Case("AWS_DEFAULT_REGION", region="e2", env={"AWS_DEFAULT_REGION": "e2"}),
    Case("region of the host", "DEF", EU, url=f"https://buc.s3.{EU}.amazonaws.com/k#aws.region=u1", files=DEFAULT),
    Case("region of the host in the path style", region=EU, url=f"https://s3.{EU}.amazonaws.com/buc/k"),
    Case("region of an old host", region=EU, url=f"https://buc.s3-{EU}.amazonaws.com/k"),
    Case(
        "option region before the host",
        region="o1",
        url=f"https://buc.s3.{EU}.amazonaws.com/k",
        options={"region": "o1"},
    ),
    Case("no region in the host", region="e1", url="https://buc.s3.amazonaws.com/k", env={"AWS_REGION": "e1"}),
    Case("region of no profile", url="s3://buc/k#aws.profile=no", files=DEFAULT),
    Case(
        "China",
        region="cn-north-1",
        endpoint="https://s3.cn-north-1.amazonaws.com.cn",
        env={"AWS_REGION": "cn-north-1"},
    ),
    # Endpoints.
    Case(
        "endpoint of the profile",
        endpoint="https://minio.org",
        files={"config": "[default]\nendpoint_url=https://minio.org/"},
    ),
    Case(
        "endpoint of services",
        endpoint="http://s:1",
        files={
            "config": "[default]\nendpoint_url=http://d:1\nservices=x\n[services x]\ns3 =\n  endpoint_url = http://s:1\n"
            "dynamodb =\n  endpoint_url = http://no:1\n"
        },
    ),
    Case(
        "endpoint of the environment",
        endpoint="http://e:1",
        files={"config": "[default]\nendpoint_url=http://d:1"},
        env={"AWS_ENDPOINT_URL": "http://e:1"},
    ),
    Case(
        "endpoint of the environment for S3",
        endpoint="http://s:1",
        env={"AWS_ENDPOINT_URL": "http://e:1", "AWS_ENDPOINT_URL_S3": "http://s:1"},
    ),
    Case("endpoints ignored", env={"AWS_ENDPOINT_URL": "http://e:1", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}),
    Case(
        "endpoint of options",
        endpoint="http://o:1",
        env={"AWS_ENDPOINT_URL": "http://e:1"},
        options={"endpoint_url": "http://o:1/"},
    ),
    Case(
        "endpoint of options without TLS",
        endpoint="http://o:1",
        options={"endpoint_url": "https://o:1", "use_ssl": False},
    ),
    Case(
        "host and port",
        endpoint="http://here:9000",
        url="http://here:9000/buc/k#mode=zarr,s3",
        env={"AWS_ENDPOINT_URL": "http://e:1"},
    ),
    Case("host and port by s3", endpoint="https://here:9000", url="s3://here:9000/buc/k"),
    Case("another host", endpoint="https://s3.reg.a.org", region="reg", url="https://s3.reg.a.org/buc/k#mode=s3"),
    Case(
        "bucket in another host",
        endpoint="https://buc.s3.reg.a.org",
        region="reg",
        url="https://buc.s3.reg.a.org/k#mode=s3",
    ),
    Case(
        "bucket in another host, by the path",
        endpoint="https://s3.reg.a.org",
        region="reg",
        url="https://buc.s3.reg.a.org/k#mode=s3",
        options={"config_kwargs": {"s3": {"addressing_style": "path"}}},
    ),
    Case(
        "virtual style", endpoint=f"https://buc.s3.{US}.amazonaws.com", options={"virtual_hosted_style_request": True}
    ),
    Case(
        "virtual style of the profile",
        endpoint=f"https://buc.s3.{US}.amazonaws.com",
        files={"config": "[default]\ns3 =\n    addressing_style = virtual\n    max_queue_size = 20\noutput = json\n"},
    ),
    Case(
        "virtual style on another host",
        endpoint="http://buc.h:1",
        options={"endpoint_url": "http://h:1", "config_kwargs": {"s3": {"addressing_style": "virtual"}}},
    ),
    Case(
        "virtual style, bucket in the endpoint",
        endpoint="http://buc.h:1",
        options={"endpoint_url": "http://buc.h:1", "virtual_hosted_style_request": True},
    ),
    Case("s3a", "DEF", "d1", url="s3a://buc/k", files=DEFAULT),
    Case("Google by S3", "DEF", "d1", "https://storage.googleapis.com", url="gs3://buc/k", files=DEFAULT),
    Case("Google by S3 and mode", "DEF", "d1", "https://h:1", url="https://h:1/buc/k#mode=gs3", files=DEFAULT),
    Case(
        "Google's host",
        "DEF",
        "d1",
        "https://storage.googleapis.com",
        url="https://storage.googleapis.com/buc/k",
        files=DEFAULT,
    ),
]
