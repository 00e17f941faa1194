"""Who races: each opens, creates and lists in its own way, with the settings that were best for it."""

from __future__ import annotations

import os
from typing import Any, Final

from bench.cloud.data import BLOSC, BUCKET, Grid, document

WIDTH: Final = 128
"""Requests at once, for who has to be told."""
KEYS: Final = {"key": "bench", "secret": "no-secret"}


def url() -> str:
    """Return where the server is."""
    return os.environ["OZ_BENCH_S3"]


class Contender:
    """One library. It is made before the clock starts, and may import what it needs then."""

    def open(self, name: str) -> Any:
        """Open an array."""
        raise NotImplementedError

    def create(self, name: str, grid: Grid) -> Any:
        """Create an array, to be filled by `write`."""
        raise NotImplementedError

    def read(self, array: Any) -> Any:
        return array[...]

    def points(self, array: Any, where: tuple[Any, ...]) -> Any:
        """Read single elements."""
        return array.vindex[where]

    def write(self, array: Any, values: Any) -> None:
        array[...] = values

    def tree(self, name: str) -> int:
        """Open a group with all arrays in it; return how many there are."""
        raise NotImplementedError


class _Zarr(Contender):
    """zarr-python; its own default of ten requests at once would be no race."""

    def __init__(self) -> None:
        import zarr

        zarr.config.set({"async.concurrency": WIDTH, "threading.max_workers": os.cpu_count()})
        self.zarr = zarr

    def store(self, name: str, *, read_only: bool = True) -> Any:
        raise NotImplementedError

    def open(self, name: str) -> Any:
        return self.zarr.open_array(self.store(name), mode="r", zarr_format=3)

    def create(self, name: str, grid: Grid) -> Any:
        return create_by_zarr(self.store(name, read_only=False), grid)

    def tree(self, name: str) -> int:
        group = self.zarr.open_group(self.store(name), mode="r", zarr_format=3, use_consolidated=False)
        return len(dict(group.members(max_depth=None)))


def create_by_zarr(store: Any, grid: Grid) -> Any:
    """Create an array by zarr-python."""
    import zarr

    compressors = zarr.codecs.BloscCodec(**BLOSC)
    return zarr.create_array(
        store, shape=grid.shape, dtype="f4", chunks=grid.chunk, compressors=compressors, fill_value=0
    )


class Obstore(_Zarr):
    """zarr-python on obstore."""

    def store(self, name: str, *, read_only: bool = True) -> Any:
        from obstore.store import S3Store
        from zarr.storage import ObjectStore

        options = {"allow_http": True, "pool_max_idle_per_host": "256"}
        keys = {"access_key_id": KEYS["key"], "secret_access_key": KEYS["secret"], "region": "us-east-1"}
        inner = S3Store(BUCKET, prefix=name, endpoint=url(), client_options=options, **keys)
        return ObjectStore(inner, read_only=read_only)


class S3fs(_Zarr):
    """zarr-python on s3fs."""

    def store(self, name: str, *, read_only: bool = True) -> Any:
        import s3fs
        from zarr.storage import FsspecStore

        options = {"max_pool_connections": WIDTH}
        fs = s3fs.S3FileSystem(**KEYS, endpoint_url=url(), asynchronous=True, config_kwargs=options)
        return FsspecStore(fs, path=f"{BUCKET}/{name}", read_only=read_only)


class Tensorstore(Contender):
    """tensorstore, without a cache of chunks."""

    def __init__(self) -> None:
        import tensorstore

        self.ts = tensorstore
        os.environ.update(AWS_ACCESS_KEY_ID=KEYS["key"], AWS_SECRET_ACCESS_KEY=KEYS["secret"])
        limits = {"s3_request_concurrency": {"limit": WIDTH}, "data_copy_concurrency": {"limit": os.cpu_count()}}
        self.context = tensorstore.Context(limits)

    def place(self, name: str) -> dict[str, Any]:
        return {"driver": "s3", "bucket": BUCKET, "endpoint": url(), "path": f"{name}/", "aws_region": "us-east-1"}

    def open(self, name: str) -> Any:
        spec = {"driver": "zarr3", "kvstore": self.place(name)}
        return self.ts.open(spec, open=True, read=True, context=self.context).result()

    def create(self, name: str, grid: Grid) -> Any:
        metadata = {key: value for key, value in document(grid).items() if key != "attributes"}
        spec = {"driver": "zarr3", "kvstore": self.place(name), "metadata": metadata, "create": True}
        return self.ts.open(spec, context=self.context).result()

    def read(self, array: Any) -> Any:
        return array.read().result()

    def points(self, array: Any, where: tuple[Any, ...]) -> Any:
        return array.vindex[where].read().result()

    def write(self, array: Any, values: Any) -> None:
        array.write(values).result()

    def tree(self, name: str) -> int:
        """List, then open all at once: it has no groups of its own."""
        kv = self.ts.KvStore.open(self.place(name), context=self.context).result()
        keys = [key.decode() for key in kv.list().result()]
        names = [key.removesuffix("/zarr.json") for key in keys if key.count("/") == 1]
        specs = [{"driver": "zarr3", "kvstore": self.place(f"{name}/{one}")} for one in names]
        opened = [self.ts.open(spec, open=True, read=True, context=self.context) for spec in specs]
        return len([one.result() for one in opened])


class Icechunk(_Zarr):
    """zarr-python on icechunk, which keeps an array in a form of its own."""

    def _repository(self, name: str, *, create: bool) -> Any:
        import icechunk

        where = {"bucket": BUCKET, "prefix": f"icechunk-{name}", "endpoint_url": url(), "region": "us-east-1"}
        keys = {"access_key_id": KEYS["key"], "secret_access_key": KEYS["secret"]}
        storage = icechunk.s3_storage(**where, **keys, allow_http=True, force_path_style=True)
        config = icechunk.RepositoryConfig(max_concurrent_requests=256)
        return (icechunk.Repository.create if create else icechunk.Repository.open)(storage, config)

    def store(self, name: str, *, read_only: bool = True) -> Any:
        if read_only:
            return self._repository(name, create=False).readonly_session("main").store
        self.session = self._repository(name, create=True).writable_session("main")
        return self.session.store

    def write(self, array: Any, values: Any) -> None:
        array[...] = values
        self.session.commit("written")


class Omnizarr(Contender):
    """Omnizarr, as it is."""

    def __init__(self) -> None:
        import omnizarr

        self.oz = omnizarr

    def _where(self, name: str) -> dict[str, Any]:
        return {"store": f"s3://{BUCKET}/{name}", "storage_options": {**KEYS, "endpoint_url": url()}}

    def open(self, name: str) -> Any:
        where = self._where(name)
        return self.oz.open_array(where.pop("store"), **where)

    def create(self, name: str, grid: Grid) -> Any:
        where = self._where(name)
        codec = self.oz.codec.blosc("lz4", 5, "shuffle")
        return self.oz.create_array(
            where.pop("store"), shape=grid.shape, dtype="f4", chunks=grid.chunk, codecs=[codec], fill_value=0, **where
        )

    def tree(self, name: str) -> int:
        where = self._where(name)
        return len(self.oz.open_group(where.pop("store"), **where).members(max_depth=None))


CONTENDERS: Final[dict[str, type[Contender]]] = {
    "obstore": Obstore,
    "s3fs": S3fs,
    "tensorstore": Tensorstore,
    "icechunk": Icechunk,
    "omnizarr": Omnizarr,
}
