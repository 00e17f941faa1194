"""The servers of these tests are what they claim to be: boto3 and obstore get along with them."""

from __future__ import annotations

import uuid

import pytest

from tests.cloud.servers import faults
from tests.cloud.servers.google import account
from tests.cloud.servers.instance import new_keys
from tests.cloud.servers.objects import Numbered

boto3 = pytest.importorskip("boto3")
obstore = pytest.importorskip("obstore")

# rclone sends the checksum of the whole object with a range of it.
CHECKSUMS = {"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required"}


def client(service, **options):
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=options.pop("url", service.url),
        aws_access_key_id=options.pop("key", service.key),
        aws_secret_access_key=options.pop("secret", service.secret),
        region_name="us-east-1",
        config=Config(**CHECKSUMS, retries={"total_max_attempts": 1}, read_timeout=5, **options.pop("config", {})),
        **options,
    )


def store(service):
    return obstore.store.S3Store(
        "bucket",
        endpoint=service.url,
        access_key_id=service.key,
        secret_access_key=service.secret,
        region="us-east-1",
        client_options={"allow_http": True},
    )


@pytest.fixture(params=["faulty", "rclone_s3", "moto_s3"])
def service(request):
    return request.getfixturevalue(request.param)


def test_objects_come_back(service):
    s3 = client(service)
    key = "d e/ü+~x.bin"
    s3.put_object(Bucket="bucket", Key=key, Body=b"0123456789")
    assert s3.get_object(Bucket="bucket", Key=key, Range="bytes=2-4")["Body"].read() == b"234"
    assert s3.get_object(Bucket="bucket", Key=key, Range="bytes=-3")["Body"].read() == b"789"
    assert s3.head_object(Bucket="bucket", Key=key)["ContentLength"] == 10
    assert bytes(obstore.get(store(service), key).bytes()) == b"0123456789"
    assert [one["Key"] for one in s3.list_objects_v2(Bucket="bucket", Prefix="d e/")["Contents"]] == [key]
    s3.delete_object(Bucket="bucket", Key=key)
    with pytest.raises(s3.exceptions.ClientError, match=r"404|NoSuchKey"):
        s3.get_object(Bucket="bucket", Key=key)


@pytest.mark.parametrize("name", ["faulty", "rclone_s3"])
def test_signatures_are_checked(name, request):
    service = request.getfixturevalue(name)
    s3 = client(service, secret="another")
    with pytest.raises(s3.exceptions.ClientError, match=r"SignatureDoesNotMatch"):
        s3.list_objects_v2(Bucket="bucket")


@pytest.mark.parametrize("name", ["azure", "gcs"])
def test_the_servers_of_other_clouds(name, request):
    service = request.getfixturevalue(name)
    plain = {"client_options": {"allow_http": True}}
    if name == "azure":
        known = {"account_name": service.key, "account_key": service.secret, "endpoint": service.url}
        there = obstore.store.AzureStore("bucket", **known, **plain)
    else:
        there = obstore.store.GCSStore("bucket", service_account_key=account(service.url), **plain)
    top = uuid.uuid4().hex  # other tests share the server
    key = f"{top}/a/b c"
    obstore.put(there, key, b"0123456789")
    assert bytes(obstore.get_range(there, key, start=2, end=5)) == b"234"
    assert obstore.list_with_delimiter(there, f"{top}/")["common_prefixes"] == [f"{top}/a"]
    with pytest.raises(obstore.exceptions.AlreadyExistsError):
        obstore.put(there, key, b"", mode="create")


def test_pages_and_folders(faulty):
    faulty.s3.page = 2
    for key in ("a/1", "a/2", "a/b/3", "a//4", "ab", "b", "a/c/5"):
        faulty.put("bucket", key, b"x")
    pages = client(faulty).get_paginator("list_objects_v2").paginate
    below = list(pages(Bucket="bucket", Prefix="a/", Delimiter="/"))
    assert [one["Key"] for page in below for one in page.get("Contents", [])] == ["a/1", "a/2"]
    assert [one["Prefix"] for page in below for one in page.get("CommonPrefixes", [])] == ["a//", "a/b/", "a/c/"]
    assert sum(page["KeyCount"] for page in pages(Bucket="bucket")) == 7
    assert faulty.counts()["list"] == 3 + 4


def test_more_keys_than_are_kept(faulty):
    faulty.bucket().numbered = Numbered("c/", 10**7)
    page = client(faulty).list_objects_v2(Bucket="bucket", Prefix="c/", StartAfter="c/005000000")
    assert page["Contents"][0]["Key"] == "c/005000001"
    assert page["IsTruncated"]
    assert faulty.count("list") == 1


def test_conditions(faulty):
    s3 = client(faulty)
    tag = s3.put_object(Bucket="bucket", Key="k", Body=b"1", IfNoneMatch="*")["ETag"]
    with pytest.raises(s3.exceptions.ClientError, match="PreconditionFailed"):
        s3.put_object(Bucket="bucket", Key="k", Body=b"2", IfNoneMatch="*")
    s3.put_object(Bucket="bucket", Key="k", Body=b"2", IfMatch=tag)
    with pytest.raises(s3.exceptions.ClientError, match="PreconditionFailed"):
        s3.put_object(Bucket="bucket", Key="k", Body=b"3", IfMatch=tag)
    assert faulty.data("bucket", "k") == b"2"


def test_parts(faulty):
    s3 = client(faulty)
    where = {"Bucket": "bucket", "Key": "k"}
    upload = s3.create_multipart_upload(**where)["UploadId"]
    assert len(faulty.bucket().uploads) == 1
    parts = [
        {"PartNumber": n, "ETag": s3.upload_part(**where, UploadId=upload, PartNumber=n, Body=bytes([n]) * 9)["ETag"]}
        for n in (1, 2)
    ]
    assert len(s3.list_parts(**where, UploadId=upload)["Parts"]) == 2
    s3.complete_multipart_upload(**where, UploadId=upload, MultipartUpload={"Parts": parts})
    assert faulty.data("bucket", "k") == b"\1" * 9 + b"\2" * 9
    assert not faulty.bucket().uploads
    s3.copy_object(Bucket="bucket", Key="l", CopySource="bucket/k")
    s3.delete_objects(Bucket="bucket", Delete={"Objects": [{"Key": "k"}]})
    assert list(faulty.bucket().objects) == ["l"]


def test_temporary_keys_expire(faulty):
    faulty.put("bucket", "k", b"x")
    made = new_keys(faulty)
    s3 = client(faulty, key=made["AccessKeyId"], secret=made["SecretAccessKey"], aws_session_token=made["Token"])
    assert s3.get_object(Bucket="bucket", Key="k")["Body"].read() == b"x"
    made = new_keys(faulty, lasting=-1)
    s3 = client(faulty, key=made["AccessKeyId"], secret=made["SecretAccessKey"], aws_session_token=made["Token"])
    with pytest.raises(s3.exceptions.ClientError, match="ExpiredToken"):
        s3.get_object(Bucket="bucket", Key="k")


def test_a_plan_is_followed(faulty):
    faulty.put("bucket", "k", b"0123456789")
    rule = faulty.plan.add(faults.busy, faults.truncated, faults.reset_before, faults.hang_up, nth=2, times=3)
    for _ in range(2):
        assert bytes(obstore.get(store(faulty), "k").bytes()) == b"0123456789"
    assert (rule.done, faulty.count("get")) == (3, 5)
    assert sum(faulty.faults().values()) == 3


def test_a_lost_answer_has_had_its_effect(faulty):
    faulty.plan.add(faults.lost, kind="put", times=1)
    s3 = client(faulty)
    with pytest.raises(Exception, match="closed"):
        s3.put_object(Bucket="bucket", Key="k", Body=b"1")
    assert faulty.data("bucket", "k") == b"1"
