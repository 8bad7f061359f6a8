"""What became of a download that this portal signed: withdrawn, replaced by another release, or written anew since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from dpportal.catalogue.models import BundleCheck
from dpportal.platform.json_types import Json
from dpportal.publications.downloads import PublishedFile
from dpportal.releases.models import Artifact, Release
from dpportal.streams.models import SeriesFile, Stream
from mechanisms.verify.bundle import RELEASE, Bundle
from mechanisms.verify.finding import State
from mechanisms.verify.signature import WHAT


@dataclass(frozen=True)
class Remark:
    """A sentence about a download, and where to go on."""

    text: str
    address: str
    link: str


def signed(path: Path, findings: Sequence[Json]) -> tuple[UUID, str] | None:
    """Which publication's files these are, and the digest of release.json, by what the portal itself signed; else None.

    findings: of the verifier, which was given the portal's own keys.
    """
    states = {(each["what"], each["state"]) for each in findings}
    if any(state == State.FAILED for _what, state in states) or (WHAT, State.HOLDS) not in states:
        return None
    bundle = Bundle.read(path)
    name = bundle.release.get("release") or bundle.release.get("stream")
    return UUID(str(name)), bundle.digest(RELEASE)


def remarks(check: BundleCheck) -> Iterator[Remark]:
    """What whoever uses the download has to know; nothing of what was never public."""
    publication = _publication(check)
    if publication is None:
        return
    address, newer = publication.get_absolute_url(), publication.successor
    if publication.withdrawn_at is not None:
        text = _("It was withdrawn on %(day)s. Do not use it any more.")
        remark = text % {"day": date_format(publication.withdrawn_at, "DATE_FORMAT")}
        yield Remark(remark, address, _("What its page says"))
    if newer is not None:
        text = _("A newer release replaces it.")
        yield Remark(text, newer.get_absolute_url(), str(newer))
    if publication.is_public and _digest_today(publication) not in ("", check.release_sha256):
        yield Remark(_rewritten(publication), address, _("To the newest files"))


def _publication(check: BundleCheck) -> Release | Stream | None:
    if check.publication is None:
        return None
    for kind in (Release, Stream):
        rows = kind.objects.filter(pk=check.publication, published_at__isnull=False)
        if (row := rows.defer(*kind.UNLISTED).first()) is not None:
            return row
    return None


def _digest_today(publication: Release | Stream) -> str:
    """Of release.json, as readers have it now; empty where there is none."""
    file: PublishedFile | None
    if isinstance(publication, Stream):
        file = SeriesFile.objects.filter(stream=publication, name=RELEASE, replaced_at=None).first()
    else:
        file = Artifact.objects.filter(release=publication, name=RELEASE).first()
    return str(file.sha256) if file else ""


def _rewritten(publication: Release | Stream) -> str:
    if isinstance(publication, Stream):
        return _("Its files were written anew since: periods were added, or texts changed.")
    return _("Its files were written anew since, with the same measurement: texts changed.")
