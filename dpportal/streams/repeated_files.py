"""Files of records that hold nearly what an earlier period's file held: asked about before anything is published.

It is asked of the curator, whose files they are, and shapes nothing that is published. Whoever may release and see no
row is asked of every further file, whatever is in it: with a file of guessed rows they could try what others held.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

from dpportal.datasets.access import right_of
from dpportal.datasets.models import Right
from dpportal.platform.json_types import Json
from dpportal.streams.models import PeriodSketch, Stream, StreamJob
from dpportal.tables import TableFacts
from dpportal.tables.similarity.sketch import Sketch, likeness

# So much of the rows of one of two files is in the other, too.
NEARLY_ALL = 0.95


def question(job: StreamJob, facts: TableFacts) -> Json:
    """What is asked about a job's file, as its options have it; nothing if it may be published.

    repeats: the other periods whose file held the same rows, or nearly all of one's; of who sees no row, all that had a
    file. compared: whether the rows decided that.
    """
    assert job.index is not None
    compared = right_of(job.created_by, job.dataset) >= Right.OWN
    sketch, others = Sketch.from_bytes(facts.sketch), PeriodSketch.objects.filter(period__stream=job.stream)
    repeats = [
        row.period.index
        for row in others.exclude(period__index=job.index).select_related("period").order_by("period__index")
        if not compared or (isinstance(row.content, dict) and _like(row.content, facts, sketch))
    ]
    return {"repeats": repeats, "compared": compared} if repeats else {}


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
