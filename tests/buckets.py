"""A server of buckets for tests, which speaks S3."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock
from urllib.request import Request, urlopen

import pytest


class Bucket:
    """A bucket, seen by Amazon's own library rather than by what is tested."""

    def __init__(self, client: Any, name: str) -> None:
        self.name = name
        self.client = client
        self.url = f"s3://{name}"

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=key, Body=content)

    def get(self, key: str) -> bytes:
        content: bytes = self.client.get_object(Bucket=self.name, Key=key)["Body"].read()
        return content

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=self.name, Key=key)

    def keys(self, prefix: str = "") -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=prefix)
        return sorted(item["Key"] for page in pages for item in page.get("Contents", []))

    def contents(self, prefix: str = "") -> dict[str, bytes]:
        return {key[len(prefix) :]: self.get(key) for key in self.keys(prefix)}

    @property
    def unfinished(self) -> list[Any]:
        """Uploads that were begun and not ended."""
        found: list[Any] = self.client.list_multipart_uploads(Bucket=self.name).get("Uploads", [])
        return found


@contextmanager
def serving() -> Iterator[Any]:
    """Serves S3 on this machine, and makes this process and its children use it. Gives Amazon's client of it."""
    pytest.importorskip("s3fs", reason="needs the extra s3")
    server_of = pytest.importorskip("moto.server", reason="needs the extra test-all")
    import botocore.session
    import s3fs

    logging.getLogger("werkzeug").disabled = True
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    with urlopen(Request(f"{url}/moto-api/reset", method="POST")):
        pass  # all servers of a process have the same buckets
    variables = {
        "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "a secret",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    with mock.patch.dict(os.environ, variables):
        s3fs.S3FileSystem.clear_instance_cache()
        yield botocore.session.get_session().create_client("s3", endpoint_url=variables["AWS_ENDPOINT_URL"])
        s3fs.S3FileSystem.clear_instance_cache()
    server.stop()
