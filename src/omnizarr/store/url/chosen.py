"""All that is decided about a URL of S3: place, profile, region, endpoint."""

from __future__ import annotations

from typing import NamedTuple

from omnizarr.store.url.aws import NOTHING, Asked, Choice, choose
from omnizarr.store.url.grammar import Url
from omnizarr.store.url.profiles import Profiles, read_profiles
from omnizarr.store.url.rc import Rc
from omnizarr.store.url.s3 import AWS_HOST, GOOGLE_HOST, S3Place, s3_place
from omnizarr.store.url.settings import Surroundings


class Chosen(NamedTuple):
    """Where a URL leads, and what was chosen for it."""

    place: S3Place
    choice: Choice
    endpoint: str
    """The server, as a URL, without the bucket."""
    profiles: Profiles


def chosen(url: Url, storage: str, rc: Rc, around: Surroundings, *, asked: Asked = NOTHING) -> Chosen:
    """Decide about a URL of S3.

    Raises:
        UnsafeError: If it names no bucket.
    """
    place = s3_place(url, storage)
    profiles = read_profiles(around)
    choice = choose(url, place.region, rc, profiles, around, asked=asked)
    return Chosen(place, choice, asked.endpoint.rstrip("/") or _endpoint(place, choice), profiles)


def _endpoint(place: S3Place, choice: Choice) -> str:
    scheme = "https" if place.secure else "http"
    if place.host:
        return f"{scheme}://{place.host}"
    if place.service == "gs3":
        return f"{scheme}://{GOOGLE_HOST}"
    if choice.endpoint and place.style == "s3":
        return choice.endpoint.rstrip("/")
    china = ".cn" if choice.region.startswith("cn-") else ""
    return f"{scheme}://s3.{choice.region}{AWS_HOST}{china}"
