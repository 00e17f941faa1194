"""The Rust kernel: stores, and the reading and writing of arrays on all cores without the GIL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

__all__ = [
    "Block",
    "CdlRows",
    "Checked",
    "CloudStore",
    "FileStore",
    "JsonSet",
    "JsonWriter",
    "Kernel",
    "LockedFile",
    "MemoryStore",
    "ParquetArray",
    "ParquetSet",
    "ParquetWriter",
    "ReferenceStore",
    "References",
    "RemoteFile",
    "Stream",
    "Survey",
    "ZipStore",
    "cdl_numbers",
    "chunk_numbers",
    "copy_keys",
    "cut_member",
    "hdf5_chunks",
    "packed",
    "render_text",
    "same_texts",
    "split_inside",
    "split_object",
    "trace_requests",
    "traced_requests",
    "unpacked",
]

_Step: TypeAlias = tuple[str, dict[str, Any]]
_Axis: TypeAlias = tuple[int, int, int] | npt.NDArray[np.int64]

@final
class Block:
    """Memory for one result, used again once nothing refers to it any more."""

    def __new__(cls, size: int) -> Block: ...
    @property
    def fresh(self) -> bool:
        """Whether all bytes were zero when the block was made."""

@final
class FileStore:
    def __new__(cls, root: str, durable: bool = False) -> FileStore: ...
    @property
    def root(self) -> str: ...
    def has_folder(self, prefix: str) -> bool: ...
    def put_new(self, key: str, data: bytes) -> int | None:
        """Put a value where there is none; return a number for this state of it, 0 if it cannot be told, or `None`."""
    def put_in(self, folder: LockedFile, key: str, data: bytes) -> bool:
        """Put a value into a folder that is held open, wherever that is by now; say whether it is still there."""
    def sweep(self) -> int: ...
    def get(self, key: str) -> bytes | None: ...
    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None: ...
    def get_many(self, keys: Sequence[str], most: int | None = None) -> list[bytes | None]: ...
    def put(self, key: str, data: Buffer) -> None: ...
    def erase(self, key: str) -> bool: ...
    def erase_prefix(self, prefix: str) -> None: ...
    def list_prefix(self, prefix: str) -> list[str]: ...
    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]: ...
    def size(self, key: str) -> int | None: ...
    def exists(self, key: str) -> bool: ...

@final
class LockedFile:
    """A file, or folder, that is open for the sake of its lock.

    The lock belongs to the open file, and a child that is forked meanwhile has that as well: it would keep others
    waiting for as long as it lives, were this process killed. So children close what they have got.
    """

    @staticmethod
    def hold(place: str, what: Literal["folder", "file", "own"], wait: bool = True) -> LockedFile | None:
        """Wait until nobody else holds what is at a place, and hold it; "own" is a file that is no link.

        `None` where there is nothing, or a "file" that may not be read. Raises `OSError`, which is `BlockingIOError` if
        another holds it, and this must not wait.
        """
    @property
    def is_locked(self) -> bool:
        """Whether there is a lock: some file systems have none, or none for folders."""
    def is_at(self, place: str) -> bool:
        """Whether it is what has a name by now."""
    def let_go(self) -> None:
        """Unlock and close it. In a child that was forked since, nothing is left to do."""

@final
class MemoryStore:
    def __new__(cls) -> MemoryStore: ...
    def get(self, key: str) -> bytes | None: ...
    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None: ...
    def get_many(self, keys: Sequence[str], most: int | None = None) -> list[bytes | None]: ...
    def put(self, key: str, data: Buffer) -> None: ...
    def erase(self, key: str) -> bool: ...
    def erase_prefix(self, prefix: str) -> None: ...
    def list_prefix(self, prefix: str) -> list[str]: ...
    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]: ...
    def size(self, key: str) -> int | None: ...
    def exists(self, key: str) -> bool: ...

@final
class ZipStore:
    def __new__(cls, place: object, durable: bool = False, limit: int = ...) -> ZipStore: ...
    def raise_limit(self, limit: int) -> None:
        """Allow compressed entries of this size, too, to all who share the archive."""
    def make_durable(self) -> None: ...
    @property
    def changed(self) -> bool:
        """Whether there are changes that `commit` has not written yet."""
    def ignored(self) -> list[tuple[str, str]]: ...
    def commit(self) -> None: ...
    def sweep(self) -> int: ...
    def discard(self) -> None: ...
    def close(self) -> None: ...
    def get(self, key: str) -> bytes | None: ...
    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None: ...
    def get_many(self, keys: Sequence[str], most: int | None = None) -> list[bytes | None]: ...
    def put(self, key: str, data: Buffer) -> None: ...
    def erase(self, key: str) -> bool: ...
    def erase_prefix(self, prefix: str) -> None: ...
    def list_prefix(self, prefix: str) -> list[str]: ...
    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]: ...
    def size(self, key: str) -> int | None: ...
    def exists(self, key: str) -> bool: ...

@final
class ReferenceStore:
    def get(self, key: str) -> bytes | None: ...
    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None: ...
    def get_many(self, keys: Sequence[str], most: int | None = None) -> list[bytes | None]: ...
    def put(self, key: str, data: Buffer) -> None: ...
    def erase(self, key: str) -> bool: ...
    def erase_prefix(self, prefix: str) -> None: ...
    def list_prefix(self, prefix: str) -> list[str]: ...
    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]: ...
    def size(self, key: str) -> int | None: ...
    def exists(self, key: str) -> bool: ...

@final
class References:
    """A reference set that is being put together."""

    def __new__(cls, urls: Sequence[str]) -> References: ...
    def add_document(self, key: str, data: bytes) -> None: ...
    def add_columns(
        self,
        path: str,
        keys: tuple[str, str, str, str, bool],
        counts: Sequence[int],
        numbers: npt.NDArray[np.uint64] | None,
        urls: npt.NDArray[np.uint32],
        offsets: npt.NDArray[np.uint64],
        lengths: npt.NDArray[np.uint64],
        inline: bytes,
    ) -> None: ...
    def store(
        self,
        base: str,
        allow: Sequence[str],
        stamps: dict[str, tuple[int | None, int | None, str | None]],
        identity: int,
        connect: Callable[[str, bool], tuple[object, str]] | None = None,
        headers: _Headers | None = None,
    ) -> ReferenceStore:
        """Make the store; nothing can be added any more, and nothing is left here.

        `connect` finds the object store, and the key in it, of a URL; it is told whether credentials may be used.
        `headers` go to the servers that are named with them.
        """

_Headers: TypeAlias = tuple[Sequence[tuple[str, str]], Sequence[str]]
_Template: TypeAlias = tuple[str, str, str, str, bool]
_Part: TypeAlias = tuple[int, int]

@final
class JsonSet:
    """A set in JSON that is being read."""

    def __new__(cls) -> JsonSet: ...
    @staticmethod
    def read(data: bytes, target: str | None = None) -> JsonSet: ...
    def __len__(self) -> int: ...
    def push_inline(self, key: str, data: bytes) -> None: ...
    def push_part(self, key: str, url: str, part: _Part | None = None) -> None: ...
    def members(self) -> dict[str, bytes]: ...
    def strange(self) -> list[str]: ...
    def texts(self, names: set[str] | frozenset[str]) -> dict[str, bytes]: ...
    def templated(self) -> list[tuple[int, str]]: ...
    def key_of(self, url: int) -> str: ...
    def replace_urls(self, by: dict[int, str]) -> None: ...
    def add_formula(
        self,
        dimensions: Sequence[tuple[int, int, int] | list[int]],
        key: object,
        url: object,
        part: tuple[object, object] | None = None,
    ) -> None: ...
    def expand(self, most: int) -> None: ...
    def place(self, grids: Sequence[tuple[str, _Template, Sequence[int]]]) -> None: ...
    def references(self) -> References: ...
    def columns(
        self, i: int
    ) -> tuple[
        npt.NDArray[np.uint64] | None,
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint64],
        bytes,
    ]: ...
    def documents(self) -> dict[str, bytes]: ...
    def others(self) -> list[tuple[str, int, _Part | None]]: ...
    def urls(self) -> list[str]: ...

@final
class JsonWriter:
    """Writes the references of one set as JSON."""

    def __new__(cls, urls: Sequence[str]) -> JsonWriter: ...
    def rows(
        self,
        path: str,
        keys: _Template,
        counts: Sequence[int],
        numbers: npt.NDArray[np.uint64] | None,
        first: int,
        urls: npt.NDArray[np.uint32],
        offsets: npt.NDArray[np.uint64],
        lengths: npt.NDArray[np.uint64],
        inline: bytes,
    ) -> bytes: ...
    def data(self, data: bytes) -> str: ...

@final
class CloudStore:
    """Keys of a bucket, or files of a web server, below a prefix."""

    def __new__(
        cls,
        kind: str,
        config: Mapping[str, str],
        prefix: str,
        uri: str,
        *,
        options: Mapping[str, float] | None = None,
        renew: Callable[[], tuple[dict[str, str], float | None]] | None = None,
        allow: Sequence[str] | None = None,
        cache: tuple[str, int] | None = None,
        trusted: bool = True,
        headers: _Headers | None = None,
    ) -> CloudStore: ...
    def get(self, key: str) -> bytes | None: ...
    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None: ...
    def get_many(self, keys: Sequence[str], most: int | None = None) -> list[bytes | None]: ...
    def get_parts(self, keys: Sequence[str], most: int, part: int) -> Iterator[list[bytes | None]]: ...
    def get_tagged(self, key: str) -> tuple[bytes, str] | None:
        """Return a value and its tag."""
    def put(self, key: str, data: Buffer) -> None: ...
    def put_if(self, key: str, data: Buffer, tag: str | None) -> str | None:
        """Put a value if what is there has this tag, or if nothing is there; the new tag, or None if that is not so."""
    def erase(self, key: str) -> bool: ...
    def erase_prefix(self, prefix: str) -> None: ...
    def list_prefix(self, prefix: str) -> list[str]: ...
    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]: ...
    def list_ahead(self, prefix: str) -> None: ...
    def size(self, key: str) -> int | None: ...
    def exists(self, key: str) -> bool: ...
    def file(self, key: str, *, head: int = ...) -> RemoteFile:
        """What is under a key as a file."""
    @property
    def cache_trouble(self) -> str | None:
        """Why what was read cannot be kept on disk, if it was to be."""
    @property
    def conditional(self) -> bool:
        """Whether values can be put on condition of what is there."""

@final
class RemoteFile:
    """A file on a server, blocks of which stay in memory."""

    def __new__(
        cls,
        url: str,
        allow: Sequence[str],
        *,
        head: int = ...,
        stall: float | None = None,
        patience: float | None = None,
        attempts: int | None = None,
        pause: float | None = None,
        pages: bool = False,
        headers: _Headers | None = None,
    ) -> RemoteFile: ...
    def stamp(self) -> tuple[int | None, int | None, str | None]:
        """Return size, time of the last change and ETag; the first call brings the file's beginning."""
    def size(self) -> int: ...
    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes from an offset on, as far as the file goes."""
    def document(self, limit: int) -> bytes:
        """Return everything in one request, unless it is more than that many bytes."""
    def counts(self) -> tuple[int, int]:
        """Return the number of requests so far, and of bytes that came as answers."""

@final
class ParquetSet:
    """The record files of one set."""

    def __new__(cls, store: object, prefix: str, record_size: int, most: int) -> ParquetSet: ...
    def references(self) -> References:
        """A set to be put together whose URLs have the numbers of these."""

    def add_to(
        self, references: References, path: str, keys: tuple[str, str, str, str, bool], counts: Sequence[int]
    ) -> None:
        """Add an array to a set that `references` has made; its rows are read when they are needed."""

    def gather(
        self, path: str, count: int, first: int, last: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.uint64], npt.NDArray[np.uint64], bytes]:
        """The references of an array with `count` chunks, as far as they are in the records from one up to another."""

    def urls(self) -> list[str]:
        """The URLs that are known so far, by their numbers."""

    def stamps(self) -> dict[str, tuple[int | None, int | None, str | None]]:
        """The states in which the sources were scanned: size, time of the last change and ETag, by URL."""

    def kept(self) -> int:
        """How many bytes of files and rows are kept."""

@final
class ParquetWriter:
    """Writes the record files of a set."""

    def __new__(cls, store: object, prefix: str, record_size: int, threshold: float) -> ParquetWriter: ...
    def numbers(self, urls: Sequence[str]) -> npt.NDArray[np.uint32]:
        """The numbers of URLs in what is written; new ones are added."""

    def stamps(self, stamps: dict[str, tuple[int | None, int | None, str | None]]) -> None:
        """Write the states in which the sources were scanned, in place of those that are there."""

    def array(self, path: str, record: int) -> ParquetArray:
        """Begin an array at the first chunk of a record."""

@final
class ParquetArray:
    """An array whose record files are being written."""

    def append(
        self,
        count: int,
        numbers: npt.NDArray[np.uint64] | None,
        urls: npt.NDArray[np.uint32],
        offsets: npt.NDArray[np.uint64],
        lengths: npt.NDArray[np.uint64],
        inline: bytes,
    ) -> None:
        """Add the references of the chunks that follow; `count` chunks, of which those in `numbers` have one."""

    def finish(self) -> int:
        """Write what is left; the number of chunks that the array has now."""

@final
class Kernel:
    """One array, ready to be read and written; cheap to make, immutable."""

    def __new__(
        cls,
        store: object,
        prefix: str,
        shape: Sequence[int],
        chunks: Sequence[int | Sequence[tuple[int, int]] | Sequence[tuple[int, int, int]]],
        keys: tuple[str, str, str, str, bool],
        itemsize: int,
        fill: bytes | None,
        chain: list[_Step],
        *,
        name: str = "",
        vlen: str = "",
        write_empty: bool = False,
        clipped: bool = False,
        cache_bytes: int = 0,
        max_chunk_bytes: int = ...,
        max_variable_bytes: int = ...,
        document: str | None = None,
    ) -> Kernel:
        """Put an array together; `document` is the key of what must be there for as long as the array is."""
    def read(self, selection: list[_Axis], out: npt.NDArray[Any], zeroed: bool = False) -> bool:
        """Read a box; return whether nothing was found for a part of it, and the document is not there either."""
    def write(self, selection: list[_Axis], values: npt.NDArray[Any], seen: int | None = None) -> int | None:
        """Write a box.

        With `seen`, only for as long as the document is in this state; 0 is none. Returns the state that has ended it,
        as `state` gives it, or `None` if all was written to the array that `seen` stands for.
        """
    def read_points(self, coordinates: list[npt.NDArray[np.int64]], out: npt.NDArray[Any]) -> bool: ...
    def write_points(
        self, coordinates: list[npt.NDArray[np.int64]], values: npt.NDArray[Any], seen: int | None = None
    ) -> int | None: ...
    def read_mask(self, mask: npt.NDArray[np.bool_], out: npt.NDArray[Any]) -> bool: ...
    def write_mask(
        self, mask: npt.NDArray[np.bool_], values: npt.NDArray[Any], seen: int | None = None
    ) -> int | None: ...
    def state(self) -> int | None:
        """What differs from one state of the document to the next; 0 if it is not there, `None` if nobody looks."""
    def stored(self) -> tuple[int, int]:
        """Number of stored chunks (shards, where sharded) of the grid, and their bytes."""
    def survey(self, documents: Sequence[str] = ..., most: int = 1000) -> Survey:
        """List the array's keys once: which chunks are stored, and what else lies there.

        Args:
            documents: Names of keys that belong there. One of these in a folder below the array makes that folder a
                node of its own, whose keys are not the array's business.
            most: How many keys of each odd sort are kept.
        """
    def trim(self) -> int:
        """Erase chunks that lie outside the shape; returns how many."""

@final
class Survey:
    """Which chunks of an array were stored when it was made, and what else lay there.

    Every key here, and in `Checked`, is the part below the array's own path: put the path before it for the store's
    key. A chunk is what is stored under one key, so a shard where the array is sharded.
    """

    @property
    def present(self) -> int:
        """Number of stored chunks inside the shape."""
    @property
    def total(self) -> int:
        """Number of chunks that the shape makes."""
    @property
    def nbytes(self) -> int:
        """Bytes of the stored chunks inside the shape."""
    @property
    def outside(self) -> list[str]:
        """Keys of chunks that lie outside the shape; the first `most` of them."""
    @property
    def noutside(self) -> int:
        """How many of those there are."""
    @property
    def stray(self) -> list[str]:
        """Keys that are neither chunks nor documents nor below another node; the first `most` of them."""
    @property
    def nstray(self) -> int:
        """How many of those there are."""
    @property
    def debris(self) -> list[str]:
        """What writes that were killed have left in a folder (`.….partial`); the first `most` of it."""
    @property
    def ndebris(self) -> int:
        """How much of that there is."""
    def keys(self, start: int, stop: int) -> list[str]:
        """Keys of the stored chunks from the `start`-th to before the `stop`-th, in C order of the grid."""
    def check(self, start: int, stop: int, decode: bool = False) -> Checked:
        """Look at the stored chunks from the `start`-th to before the `stop`-th, on all threads.

        Sizes are looked at, and the indexes of shards; with `decode` every chunk (every inner chunk of shards) is
        decoded, too. What is wrong with one chunk is noted, and the work goes on with the next. Call it for a few
        hundred chunks at a time, so that progress can be shown.
        """

@final
class Checked:
    """What a look at some chunks has shown."""

    @property
    def chunks(self) -> int:
        """Number of chunks that were looked at."""
    @property
    def gone(self) -> int:
        """Number of those that have vanished since the survey."""
    @property
    def nbytes(self) -> int:
        """Their stored bytes."""
    @property
    def cells(self) -> int:
        """Number of inner chunks inside the array's shape that these shards have room for; 0 if not sharded."""
    @property
    def cells_present(self) -> int:
        """How many of these are stored."""
    @property
    def filled(self) -> int:
        """Number of decoded chunks, inner ones where sharded, that hold nothing but the fill value."""
    @property
    def faults(self) -> list[tuple[str, str, str]]:
        """What is wrong: key, kind and message of each fault, sorted by key; the first thousand of a call.

        A shard may have many, one for each inner chunk, whose number in C order the message tells. Kinds are

        - "empty": no bytes;
        - "size": not the size of an uncompressed chunk, or more bytes than any encoding can have;
        - "shard-checksum": the checksum of the shard's index is wrong;
        - "shard-range": an entry of the index points outside the shard or into the index, or is half missing;
        - "shard-overlap": two entries share bytes;
        - "corrupt-shard": the index is cut short or does not decode;
        - "corrupt", "checksum", "codec", "limit", "store", …: the `kind` of the error that reading would raise.
        """
    @property
    def nfaults(self) -> int:
        """How many there are."""

@final
class Stream:
    """Codecs of bytes as one, the first of which sees the decoded bytes; runs without the GIL."""

    def __new__(cls, steps: list[_Step]) -> Stream: ...
    def encode(self, data: Buffer) -> bytes:
        """Encode the bytes of any contiguous buffer."""
    def decode(self, data: Buffer, size: int | None, max_size: int) -> bytes:
        """Decode to exactly `size` bytes, or where that is None to at most `max_size`."""

@final
class CdlRows:
    """The lines of one variable's values in CDL, from the first to the last, as ncdump lays them out.

    Args:
        shape: Length of each dimension; none for a scalar.
        unlimited: Whether each is unlimited: records along those, other than the first, stand in braces.
        part: Start and step along each dimension, for the indices in notes; empty for a whole variable.
        width: The longest line, less two.
        indent: Blanks in front of lines, by the depth of the group.
        line: How many characters the first line has already.
        name: The variable's name, for notes.
        notes: "", or "rows" or "values" to say the indices of each, with "c" or "f" for C's or Fortran's.
        whole_rows: Whether each text of `tokens` is a whole row, which does not count for the length of a line.
    """

    def __new__(
        cls,
        shape: Sequence[int],
        unlimited: Sequence[bool],
        *,
        part: Sequence[tuple[int, int]],
        width: int,
        indent: int,
        line: int,
        name: bytes,
        notes: str,
        whole_rows: bool,
    ) -> CdlRows: ...
    @property
    def line(self) -> int:
        """How many characters the last line has so far."""
    def numbers(self, values: np.ndarray[Any, Any], fill: bytes | None, digits: int) -> bytes:
        """Return the text of the next numbers, a contiguous array; those that equal the fill value are `_`."""
    def tokens(self, texts: Sequence[bytes]) -> bytes:
        """Return the text of the next values, of which each is given as text."""

def chunk_numbers(
    keys: Sequence[str], path: str, template: tuple[str, str, str, str, bool], counts: Sequence[int]
) -> npt.NDArray[np.uint64]:
    """Return the number of the chunk that each key stands for, in C order; 2**64 - 1 for keys of no chunk."""

def copy_keys(
    source: tuple[object, str],
    target: tuple[object, str],
    keys: Sequence[str],
    task: Literal["copy", "resume", "compare", "measure"],
    renamed: Sequence[str] | None = None,
) -> tuple[int, int, int, list[int], list[int]]:
    """Copy, go on copying, compare or measure the values under keys, which follow the prefix of each store.

    Keys have the same names in the target unless it is given one for each.

    Returns the numbers of values done, of their bytes and of values kept, and the places in the list of the keys that
    the source does not have and of those that differ.
    """

def trace_requests(on: bool) -> None:
    """Begin to keep a list of all requests, or stop."""

def traced_requests() -> list[tuple[float, float, str, str, str, int, int, int, int]]:
    """Take out the requests that were kept: when, how long, method, URL, range, status, sent, received, attempt."""

def split_object(document: bytes) -> dict[str, bytes]:
    """Split a JSON object into its members' raw texts without parsing them."""

def split_inside(document: bytes, path: Sequence[str]) -> tuple[dict[str, bytes], dict[str, bytes]] | None:
    """Split the object that names lead to, and the one right around it without that one, as `split_object` does.

    Returns:
        The two; `None` if a name is not there, or not that of an object. Names are looked for as they are.
    """

def cut_member(document: bytes, name: str) -> tuple[bytes, bytes]:
    """Cut a member out of a JSON object: what is left of the text, which is JSON no more, and the member's raw text.

    If there is no such member, or several, all is left. The name is looked for as it is, so it must need no escapes.
    """

def hdf5_chunks(
    file: object, address: int, base: int, shape: Sequence[int], chunks: Sequence[int]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint32]] | None:
    """Find the chunks of a dataset of HDF5: numbers, offsets, lengths and masks, sorted by number.

    The file is a path, or an object with `size()` and `read_at(offset, length)`. Returns `None` where the index is of
    no kind that is known here, or contradicts itself.
    """

def same_texts(documents: Sequence[bytes], others: Sequence[bytes]) -> list[bool]:
    """Say of each pair of JSON texts whether they are the same but for white space between tokens."""

def cdl_numbers(
    text: bytes, start: int, dtype: str
) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint64], int | None, int]:
    """Read plain numbers from a place in a CDL text on, as values of a type ("i4", "f8", …), as far as they go.

    Returns:
        The values, where among them fill values stand, where in the text the first is that could not be kept, and where
        the last ends.
    """

def packed(data: bytes, how: str) -> bytes: ...
def render_text(tree: object) -> str: ...
def unpacked(data: bytes, most: int) -> bytes | None: ...
