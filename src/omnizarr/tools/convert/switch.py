"""Putting what is new in the place of what was there, or taking it back: from the journal alone, as often as needed."""

from __future__ import annotations

from omnizarr.format.dialects import dialect
from omnizarr.format.names import join
from omnizarr.hierarchy.save import forget_attributes
from omnizarr.hierarchy.upkeep import record as record_above
from omnizarr.store.protocol import Store
from omnizarr.tools.convert.journal import SCRATCH, Keeper, Record
from omnizarr.tools.convert.keys import chunk_keys, copy_chunks, erase_chunks


def publish(keeper: Keeper) -> None:
    """Write the new documents that have names of their own; the node that was converted comes last.

    Where they win over the old ones, each node changes in that moment; where they do not, nothing does. Both can be
    undone.
    """
    for record in reversed(keeper.journal.records):
        if record.fresh and not record.scratch:
            _put(keeper, record)


def forward(keeper: Keeper) -> None:
    """Do what is left to do once the journal says "committed"; whoever is stopped here can begin again."""
    journal, store, root = keeper.journal, keeper.store, keeper.path
    for key in journal.stale:
        store.erase(join(root, key))
    plain = [record for record in journal.records if not record.scratch]
    for record in reversed(plain):
        if not record.fresh:  # the others have been published
            _put(keeper, record)
    for record in plain:  # groups first, so that no copy of documents in them answers for what follows
        _erase_documents(store, _place(keeper, record), record.erase)
    for record in journal.records:
        if record.scratch:
            _switch(keeper, record)
        elif record.old_keys is not None:
            erase_chunks(store, _place(keeper, record), record.old_keys, record.ndim)
    for key, text in journal.copies.items():
        store.put(join(root, key), text.encode())
    if journal.records:
        record_above(store, root, _documents(keeper), below=True)
    if any(record.scratch for record in journal.records):
        # From here on what is left of the scratch chunks must not be taken for all of them.
        keeper.journal = journal._replace(records=(), copies={}, stale=())
        keeper.write()
    sweep(keeper)


def sweep(keeper: Keeper) -> None:
    """Erase what a conversion needs only while it is under way, the journal last."""
    keeper.store.erase_prefix(join(keeper.path, SCRATCH + "/"))
    keeper.close()


def rollback(keeper: Keeper) -> None:
    """Erase what is new; in place, only while the journal says "building"."""
    journal, store = keeper.journal, keeper.store
    for key in () if journal.in_place else journal.copies:
        store.erase(join(keeper.path, key))
    for record in journal.records:
        if record.fresh:
            _erase_documents(store, _place(keeper, record), tuple(record.put)[::-1])
    if journal.state == "committed":
        record_above(store, keeper.path, (), below=True)
    for record in journal.records:
        if record.new_keys is not None and not record.scratch:
            erase_chunks(store, _place(keeper, record), record.new_keys, record.ndim)
    sweep(keeper)


def _documents(keeper: Keeper) -> list[str]:
    """Return the keys of the documents of all nodes."""
    return [
        join(_place(keeper, record), name)
        for record in keeper.journal.records
        for name in record.put or dialect(record.format).documents
    ]


def _place(keeper: Keeper, record: Record) -> str:
    return join(keeper.path, record.path).rstrip("/")


def _put(keeper: Keeper, record: Record) -> None:
    path = _place(keeper, record)
    if record.fresh and dialect(record.format).attributes not in record.put:
        forget_attributes(keeper.store, path, record.format)
    for name, text in record.put.items():
        keeper.store.put(join(path, name), text.encode())
    folder, make_folder = dialect(record.format).folder, getattr(keeper.store, "make_folder", None)
    if folder and record.new_keys is not None and make_folder is not None:
        make_folder(join(path, folder))


def _erase_documents(store: Store, path: str, names: tuple[str, ...]) -> None:
    for name in names:
        store.erase(join(path, name))


def _switch(keeper: Keeper, record: Record) -> None:
    """Put new chunks in the place of old ones of the same names; meanwhile there is no document, so nobody reads."""
    store, path = keeper.store, _place(keeper, record)
    if record.new_keys is None:
        return
    _erase_documents(store, path, (*record.erase, *record.put))
    scratch = join(keeper.path, record.scratch)
    new = chunk_keys(store, scratch, record.new_keys, record.ndim)
    kept = set(new)
    start = path + "/" if path else ""
    for inner in chunk_keys(store, path, record.new_keys, record.ndim):
        if inner not in kept:
            store.erase(start + inner)
    for _ in copy_chunks((store, scratch + "/"), (store, start), [(one, one) for one in new]):
        pass
    _put(keeper, record)
