"""Archives for the tests of the zip store."""

import zipfile

VALUES = {"zarr.json": b'{"a": 1}' * 50, "c/0/0": bytes(range(256)) * 40, "empty": b"", "é/ü": b"1", "a b": b"2"}


def made(place, values=VALUES, **options):
    with zipfile.ZipFile(place, "w", **options) as archive:
        for key, value in values.items():
            archive.writestr(key, value)
    return place


def names(folder):
    return [path.name for path in folder.iterdir()]


def contents(store):
    return {key: store.get(key) for key in store.list_prefix("")}
