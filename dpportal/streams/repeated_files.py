"""Files of records that hold nearly what an earlier period's file held: asked about before anything is published.

It is asked of the curator, whose files they are, and shapes nothing that is published.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

from dpportal.streams.models import PeriodSketch, Stream
from dpportal.tables import TableFacts
from dpportal.tables.similarity.sketch import Sketch, likeness

# So much of the rows of one of two files is in the other, too.
NEARLY_ALL = 0.95


def repeated(stream: Stream, index: int, facts: TableFacts) -> list[int]:
    """The other periods of the stream whose file held the same rows as this one, or nearly all of one's."""
    sketch = Sketch.from_bytes(facts.sketch)
    sketches = PeriodSketch.objects.filter(period__stream=stream).exclude(period__index=index)
    return [
        row.period.index
        for row in sketches.select_related("period").order_by("period__index")
        if isinstance(row.content, dict) and _like(row.content, facts, sketch)
    ]


def _like(earlier: dict[str, str], facts: TableFacts, sketch: Sketch) -> bool:
    same = earlier["digest"] == facts.content_digest
    return same or likeness(sketch, Sketch.from_bytes(b64decode(earlier["sketch"]))).rows >= NEARLY_ALL


def keep(stream: Stream, index: int, facts: TableFacts) -> None:
    """Remember what a published period's file held."""
    content = {"digest": facts.content_digest, "sketch": b64encode(facts.sketch).decode()}
    period = stream.periods.get(index=index)
    if not PeriodSketch.objects.filter(period=period).update(content=content):
        PeriodSketch.objects.create(period=period, content=content)


def forget(stream: Stream) -> None:
    """When no period can follow, or the records are erased."""
    PeriodSketch.objects.filter(period__stream=stream).delete()
