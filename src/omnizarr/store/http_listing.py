"""The pages on which web servers list a folder: what links right below it are the names there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from urllib.parse import unquote, urljoin, urlsplit

from omnizarr.errors import OmnizarrError
from omnizarr.native import RemoteFile
from omnizarr.store.cloud.servers import ForServer
from omnizarr.store.keys import is_key

_MOST = 64 << 20


# No parser of whole pages: it would make a hundred bytes of each of a page that means ill.
_LINK = r"""(?i)<a\s(?:[^<>]*?\s)?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s<>"'][^\s<>]*))"""

_PLAIN = r"(?a)[A-Za-z0-9_-][A-Za-z0-9_.-]*/?"


def _links(page: str) -> Iterator[str]:
    return (unescape("".join(part or "" for part in found.groups())) for found in re.finditer(_LINK, page))


def names(url: str, page: str) -> tuple[list[str], list[str]]:
    """Return the names of files and of folders right below the folder that a page is of.

    >>> names("http://h/a/", '<a href="../">up</a> <a href="x%20y">1</a> <a href="/a/z/">2</a> <a href="?C=N">N</a>')
    (['x y'], ['z'])
    """
    base = urlsplit(url)
    files: dict[str, None] = {}
    folders: dict[str, None] = {}
    for link in dict.fromkeys(_links(page)):
        if re.fullmatch(_PLAIN, link):  # nearly all of them
            (folders if link.endswith("/") else files)[link.rstrip("/")] = None
            continue
        try:
            to = urlsplit(urljoin(url, link))
        except ValueError:  # not even an address
            continue
        if (to.scheme, to.netloc) != (base.scheme, base.netloc) or to.query or not to.path.startswith(base.path):
            continue
        name = unquote(to.path[len(base.path) :])
        if is_key(name.rstrip("/")) and "/" not in name.rstrip("/"):
            (folders if name.endswith("/") else files)[name.rstrip("/")] = None
    return list(files), list(folders)


def listed(url: str, allow: Sequence[str], how: ForServer | None = None) -> tuple[list[str], list[str]] | None:
    """Return what a server lists for a folder; `None` if it has no page for that.

    Args:
        url: The folder's, ending in a slash.
        allow: What may be reached.
        how: How the server is asked.
    """
    try:
        asked = how or ForServer()
        page = RemoteFile(url, allow, pages=True, headers=asked.headers, **asked.settings).document(_MOST)
    except OmnizarrError:  # servers say in many ways that there is none
        return None
    text = page.decode("utf-8", "replace")
    return names(url.partition("?")[0], text) if "<a" in text.lower() and "href" in text.lower() else None
