"""Every rule: its id, which never changes its meaning, and the clause that it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from omnizarr.errors import SelectionError
from omnizarr.tools.validate.clauses import CLAUSES, Clause

Severity: TypeAlias = Literal["error", "warning", "note"]
"""What breaks a specification so that data cannot be read as meant; what is tolerated; what is merely odd."""

Repair: TypeAlias = Literal["", "safe", "all", "choice"]
"""Not; without a loss or guess; what a user must ask for, with `all`; or with the name of the format to keep."""


class Rule(NamedTuple):
    """One rule."""

    id: str
    name: str
    severity: Severity
    repair: Repair
    clause: Clause
    summary: str


def _rule(line: str) -> Rule:
    number, name, severity, repair, clause, summary = (part.strip() for part in line.split("|"))
    kind: Severity = "error" if severity == "E" else "warning" if severity == "W" else "note"
    fix: Repair = "safe" if repair == "safe" else "all" if repair == "all" else "choice" if repair == "choice" else ""
    return Rule(f"OZ{number}", name, kind, fix, CLAUSES[clause], summary)


_TEXT: Final = """
101|not-utf8|E||json-utf8|A document is not UTF-8.
102|byte-order-mark|W|safe|json-utf8|A document begins with a byte order mark.
103|not-json|E||json-text|A document is not one JSON value.
104|name-repeated|E|all|json-objects|An object in a document has a name twice; most readers take the last.
105|bare-number-in-attributes|W||json-numbers|Attributes hold NaN or Infinity, which strict readers refuse.
106|bare-number|W|safe|json-numbers|A document holds NaN or Infinity outside its attributes.
107|not-an-object|E||v3-metadata|A document is JSON, but not an object.
108|beyond-limits|E||limits|A document claims more than the limits allow.
109|empty-document|E||json-text|A document has no bytes.
110|unreadable-document|E||v3-storage|A document cannot be read from the store.
"""

_V3: Final = """
201|v3-zarr-format|E||v3-format|`zarr_format` is missing or not 3.
202|v3-zarr-format-type|W|safe|v3-format|`zarr_format` is 3, but not an integer.
203|v3-node-type|E||v3-node-type|`node_type` is neither "array" nor "group".
204|v3-member-missing|E||v3-array|A member that every array must have is missing.
205|v3-member-unknown|E||v3-understand|An unknown member does not say that it may be ignored.
206|v3-shape|E||v3-shape|`shape` is not a list of lengths.
207|v3-data-type|E||v3-data-type|`data_type` is malformed.
208|v3-data-type-unknown|W||v3-data-type|The data type is not one that Omnizarr has.
209|v3-fill-value|E||v3-fill|The fill value is none of the data type's.
210|v3-fill-value-form|W|safe|v3-fill|The fill value is spelled in a way that not all readers take.
211|v3-chunk-grid|E||v3-grid|`chunk_grid` is malformed, or does not fit the shape.
212|v3-chunk-length-zero|W|safe|v3-grid|A chunk has the length 0.
213|v3-chunk-grid-unknown|W||v3-grid|The chunk grid is not one that Omnizarr has.
214|v3-chunk-key-encoding|E||v3-keys|`chunk_key_encoding` is malformed.
215|v3-chunk-key-encoding-unknown|W||v3-keys|The chunk key encoding is not one that Omnizarr has.
216|v3-attributes|E||v3-attributes|`attributes` is not an object.
217|v3-member-null|W|safe|v3-additional|An optional member is null instead of absent.
218|v3-dimension-names|E||v3-dims|`dimension_names` is not a list of names and nulls.
219|v3-dimension-names-count|E||v3-dims|There are more or fewer dimension names than dimensions.
220|v3-dimension-names-repeated|N||v3-dims|Two dimensions have the same name.
221|v3-storage-transformers|E||v3-transformers|`storage_transformers` is malformed.
222|v3-storage-transformer-unknown|W||v3-transformers|A storage transformer is not one that Omnizarr has.
223|v3-must-understand|E||v3-understand|`must_understand` is not allowed here, or not true or false.
224|v3-codecs|E||v3-codecs|`codecs` is not a list.
225|v3-codec-form|E||v3-extension|A codec is not an object with a name and a configuration.
226|v3-codec-unknown|W||v3-codecs|A codec is not one that Omnizarr has.
227|v3-codec-order|E||v3-chain|A codec cannot stand where it stands in the chain.
228|v3-codec-bytes-missing|E||v3-chain|No codec turns the array into bytes.
229|v3-codec-configuration|E||v3-codecs|A codec has a setting that it does not take, or of a wrong value.
230|v3-codec-unsafe|E||v3-codecs|A codec would run code from data.
231|v3-transpose|E||v3-codecs|The order of a transpose is not a permutation of the axes.
232|v3-endian-missing|W|all|v3-codecs|The byte order of the elements is not given.
233|v3-short-hand|N|safe|v3-short|An extension is given by its name alone, which not all readers take.
234|v3-codec-old-name|W|safe|v3-codecs|A codec has a name that it had in a draft.
235|v3-shard-shape|E||shard-settings|The chunks of a shard do not divide it.
236|v3-shard-configuration|E||shard-settings|A setting of a shard is missing, unknown or wrong.
237|v3-shard-index-codecs-missing|W|safe|shard-settings|The codecs of the shard index are not given.
238|v3-shard-index-codecs|E||shard-settings|The codecs of the shard index give no fixed length.
239|v3-extension-name|W||v3-extension|The name of an extension is neither registered in form nor a URI.
299|v3-refused|E||v3-metadata|The document cannot be used for another reason.
"""

_V2: Final = """
301|v2-zarr-format|E||v2-metadata|`zarr_format` is missing or not 2.
302|v2-member-missing|E||v2-metadata|A member that every array must have is missing.
303|v2-member-assumed|W|safe|v2-metadata|A member that every array must have is missing; all readers assume the same.
304|v2-member-unknown|N||v2-metadata|A document has a member that the specification does not have.
305|v2-shape|E||v2-metadata|`shape` is not a list of lengths.
306|v2-chunks|E||v2-metadata|`chunks` is not a list of lengths that fits the shape.
307|v2-chunk-length-zero|W|safe|v2-metadata|A chunk has the length 0.
308|v2-dtype|E||v2-dtype|`dtype` is malformed.
309|v2-dtype-unknown|W||v2-dtype|The data type is not one that Omnizarr has.
310|v2-dtype-spelling|W|safe|v2-dtype|The data type is spelled in a way that not all readers take.
311|v2-order|E||v2-metadata|`order` is neither "C" nor "F".
312|v2-fill-value|E||v2-fill|The fill value is none of the data type's.
313|v2-fill-value-form|W|safe|v2-fill|The fill value is spelled in a way that not all readers take.
314|v2-filters|E||v2-filters|`filters` is neither a list nor null.
315|v2-filters-empty|N|safe|v2-filters|`filters` is a list without filters instead of null.
316|v2-codec-form|E||v2-filters|A filter or compressor is not an object with an id.
317|v2-codec-unknown|W||v2-filters|A filter or compressor is not one that Omnizarr has.
318|v2-codec-configuration|E||v2-filters|A filter or compressor has a wrong setting.
319|v2-codec-unsafe|E||v2-filters|A filter or compressor would run code from data.
320|v2-codec-misfit|E||v2-filters|A filter cannot work on what it is given.
321|v2-object-codec-missing|E||v2-dtype|An array of objects has no filter that says how they are stored.
322|v2-dimension-separator|E||v2-metadata|`dimension_separator` is neither "." nor "/".
323|v2-dimension-separator-null|W|safe|v2-metadata|`dimension_separator` is null instead of absent.
324|v2-dimension-separator-unsaid|W|safe|v2-metadata|Chunks lie in folders, and the document does not say so.
325|v2-attributes|E||v2-attributes|The attributes are not an object.
326|v2-array-dimensions|W||xarray-dims|`_ARRAY_DIMENSIONS` does not name each dimension once.
327|v2-strings-of-any-length|W||v2-filters|Strings of one length are stored as if they were of any length.
328|v2-zarr-format-type|W|safe|v2-metadata|`zarr_format` is 2, but not an integer.
399|v2-refused|E||v2-metadata|The document cannot be used for another reason.
"""

_OLD: Final = """
401|v1-zarr-format|E||v1-metadata|`zarr_format` is not 1.
402|v1-member-missing|E||v1-metadata|A member that every array must have is missing.
403|v1-member|E||v1-metadata|A member of the metadata is malformed.
404|v1-cut-off|E||v1-metadata|The metadata end in the middle: their writer failed.
405|v1-order-ignored|N||v1-metadata|The order "F" was not kept to by the compressor; the data are in order C.
406|v1-attrs-missing|W|safe|v1-attributes|The document with the attributes is missing.
409|v1-refused|E||v1-metadata|The array cannot be used for another reason.
411|v0-member-missing|E||v0|A member that every array must have is missing.
412|v0-member|E||v0|A member of the metadata is malformed.
413|v0-cut-off|E||v0|The metadata end in the middle: their writer failed.
414|v0-pickle|N||v0-pickle|The metadata are a pickle, as only zarr 0.3 wrote them.
415|v0-pickle-unsafe|E||v0-pickle|The metadata are a pickle that is damaged, or would do more than hold values.
419|v0-refused|E||v0|The array cannot be used for another reason.
421|n5-member-missing|E||n5|An array lacks one of dimensions, blockSize and dataType.
422|n5-member|E||n5|A member of an array is malformed.
423|n5-version-missing|N||n5|The root does not say which version of N5 it follows.
424|n5-unsupported|W||n5|The type or compression is not one that Omnizarr has.
429|n5-refused|E||n5|The node cannot be used for another reason.
431|draft-entry-point|E||draft-entry|The entry point of the hierarchy is malformed.
432|draft-entry-point-missing|W||draft-entry|The hierarchy has no entry point.
433|draft-member-missing|E||draft|A member that every array must have is missing.
434|draft-member|E||draft|A member of a document is malformed.
435|draft-member-unknown|W||draft|A document has a member that no draft has.
436|draft-unsupported|W||draft|A document needs something that Omnizarr does not have.
439|draft-refused|E||draft|The document cannot be used for another reason.
"""

_HIERARCHY: Final = """
501|array-and-group|E|safe|v2-groups|A path has the documents of an array and of a group.
502|two-formats|W|choice|v3-stored|A path has documents of two formats; readers take one or the other.
503|node-below-array|E||v3-stored|A node lies below an array.
504|group-missing|E|safe|v3-stored|A node lies below a path that has no group.
505|name-reserved|W||v3-names|The name of a node is reserved, or consists of dots.
506|names-alike|N||v3-names|Names differ in nothing but case, which some stores do not tell apart.
507|attributes-without-node|W||v2-attributes|There are attributes, but nothing that has them.
508|format-mixed|W||v3-stored|A node has another format than the group that holds it.
509|v2-group-missing|E|safe|v2-groups|A node of v2 lies below a path that has no group.
510|root-missing|E|all|v3-stored|There are nodes, but the root of the store is no group.
"""

_KEYS: Final = """
601|stray-key|W||v3-storage|A key is neither a document nor a chunk.
602|clutter|N|all|file-store|A file is what an operating system or editor left behind.
603|unfinished-write|W|safe|file-store|A write was begun and not finished.
604|lock-left|N|safe|file-store|A lock file without content was left behind.
605|chunk-outside|W|all|v3-storage|A chunk lies outside the array, and would come back if it grew.
606|chunk-key-separator|E||v3-keys|A chunk has the other separator in its key, so nobody finds it.
607|chunk-key-spelling|E||v3-keys|An index in the key of a chunk has leading zeros, so nobody finds it.
608|chunk-key-rank|W||v3-keys|The key of a chunk has more or fewer indices than the array has dimensions.
609|chunk-is-folder|E||file-store|There is a folder where a chunk should be.
610|document-is-folder|E||file-store|There is a folder where a document should be.
611|resize-unfinished|W|safe|v3-storage|An array was being cut when its writer was stopped; the rest may come back.
612|append-unfinished|W|safe|v3-storage|Several arrays were being made longer when their writer was stopped.
"""

_CHUNKS: Final = """
701|chunk-empty|E|all|v3-decoding|A chunk is stored without a single byte.
702|chunk-size|E||v3-decoding|A chunk that is not compressed has another size than its shape says.
703|chunk-decode|E||v3-decoding|A chunk does not decode.
704|chunk-checksum|E||v3-decoding|The checksum of a chunk does not match it.
705|shard-short|E||shard-format|A shard is too short to hold its index.
706|shard-index-checksum|E||shard-format|The checksum of a shard's index does not match it.
707|shard-entry-outside|E||shard-format|An entry of a shard's index points outside the shard.
708|shard-entries-overlap|W||shard-format|Two chunks of a shard share some of their bytes.
709|shard-entry-half|E||shard-format|An entry of a shard's index is empty by half.
710|shard-hollow|N|safe|shard-format|A shard is stored although it holds no chunk.
711|shard-index|E||shard-format|The index of a shard does not decode.
712|chunk-unreadable|E||v3-storage|A chunk cannot be read from the store.
713|codecs-unusable|W||v3-codecs|The chunks could not be looked at, as a codec is missing.
714|n5-block-header|E||n5|The header of a block does not fit the array.
"""

_CONSOLIDATED: Final = """
801|consolidated-malformed|E|safe|v2-consolidated|The consolidated metadata are malformed.
802|consolidated-kind|W|safe|v2-consolidated|The consolidated metadata are of a version or kind that nobody knows.
803|consolidated-gone|E|safe|v2-consolidated|The consolidated metadata hold a node that is not there.
804|consolidated-incomplete|E|safe|v2-consolidated|The consolidated metadata lack a node that is there.
805|consolidated-stale|E|safe|v2-consolidated|The consolidated metadata hold another document than the node.
806|consolidated-must-understand|W|safe|v3-additional|The consolidated metadata do not say that they may be ignored.
807|consolidated-path|E|safe|v2-paths|The consolidated metadata hold a path that leads out of the group.
808|consolidated-alone|W|all|v2-consolidated|There are consolidated metadata, but not the documents that they copy.
"""

_STORES: Final = """
901|zip-entry-repeated|W|safe|zip|An archive has entries of the same name; readers take the last.
902|zip-entry-ignored|W||zip|An archive has an entry whose name cannot be a key.
903|zip-folder-on-top|N||zip|All entries of an archive lie in a folder, which not all readers look into.
"""

RULES: Final[dict[str, Rule]] = {
    rule.id: rule
    for table in (_TEXT, _V3, _V2, _OLD, _HIERARCHY, _KEYS, _CHUNKS, _CONSOLIDATED, _STORES)
    for rule in map(_rule, table.strip().splitlines())
}
"""All rules by their ids."""


class Selection(NamedTuple):
    """Which rules count: those that begin with one of `select`, unless they begin with one of `ignore`."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def wants(self, rule: str) -> bool:
        """Whether a rule counts."""
        return (not self.select or rule.startswith(self.select)) and not (self.ignore and rule.startswith(self.ignore))


def selection(select: Iterable[str] | None, ignore: Iterable[str] | None) -> Selection:
    """Make a selection from ids (`OZ101`), prefixes of ids (`OZ1`) and names (`not-utf8`).

    Raises:
        SelectionError: If no rule has such an id or name.

    >>> selection(["OZ1"], ["not-json"])
    Selection(select=('OZ1',), ignore=('OZ103',))
    """
    return Selection(_prefixes("select", select), _prefixes("ignore", ignore))


def _prefixes(name: str, words: Iterable[str] | None) -> tuple[str, ...]:
    given = () if words is None else words
    # Text is a list of letters, one of which all ids begin with.
    listed = None if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if listed is None or not all(isinstance(word, str) for word in listed):
        message = f"{name} is {words!r} of type {type(words).__name__}, not a list of ids or names of rules"
        raise SelectionError(message, hint=f'Pass {name}=["OZ1"], a list even of one.')
    return tuple(map(_prefix, listed))


def _prefix(word: str) -> str:
    text = word.strip().upper()
    for rule in RULES.values():
        if rule.name == word.strip():
            return rule.id
        if text and rule.id.startswith(text):
            return text
    raise SelectionError(f"no rule has the id or name {word!r}", hint="oz validate --rules lists them.")
