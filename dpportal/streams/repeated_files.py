"""Files of records that hold nearly what an earlier period's file held: asked about before anything is published.

It is asked of the curator, whose files they are, and shapes nothing that is published. Whoever may release and see no
row is asked of every further file, whatever is in it: with a file of guessed rows they could try what others held. So
is everyone once such a person's file was published: a question about the next one would tell whether it holds what was
guessed.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

from dpportal.datasets.access import right_of
from dpportal.datasets.models import Right
from dpportal.platform.json_types import Json
from dpportal.streams.models import Period, PeriodSketch, Stream, StreamJob
from dpportal.tables import TableFacts
from dpportal.tables.similarity.sketch import Sketch, likeness

# So much of the rows of one of two files is in the other, too.
NEARLY_ALL = 0.95
# Whether a file came from somebody who sees rows; not said of those of earlier versions.
SEEN = "sent_by_owner"


def question(job: StreamJob, facts: TableFacts) -> Json:
    """What is asked about a job's file, as its options have it; nothing if it may be published.

    repeats: the other periods whose file held the same rows, or nearly all of one's; where rows are not compared, all
    that had a file, without rows too. compared: whether the rows decided that.
    """
    assert job.index is not None
    rows = PeriodSketch.objects.filter(period__stream=job.stream).exclude(period__index=job.index)
    held = {row.period.index: row.content for row in rows.select_related("period").order_by("period__index")}
    known = {index: content for index, content in held.items() if isinstance(content, dict)}
    compared = _sees_rows(job) and all(content.get(SEEN, True) for content in known.values())
    if compared:
        sketch = Sketch.from_bytes(facts.sketch)
        repeats = [index for index, content in known.items() if _is_like(content, facts, sketch)]
    else:
        with_file = job.stream.periods.filter(source=Period.Source.RECORDS).exclude(index=job.index)
        repeats = list(with_file.order_by("index").values_list("index", flat=True))
    return {"repeats": repeats, "compared": compared} if repeats else {}


def _sees_rows(job: StreamJob) -> bool:
    return right_of(job.created_by, job.dataset) >= Right.OWN


def _is_like(earlier: Json, facts: TableFacts, sketch: Sketch) -> bool:
    same = earlier["digest"] == facts.content_digest
    return same or likeness(sketch, Sketch.from_bytes(b64decode(earlier["sketch"]))).rows >= NEARLY_ALL


def keep(job: StreamJob, facts: TableFacts) -> None:
    """Remember what a published period's file held, and whether whoever sent it sees rows."""
    assert job.index is not None
    held = {"digest": facts.content_digest, "sketch": b64encode(facts.sketch).decode()}
    content = {**held, SEEN: _sees_rows(job)}
    period = job.stream.periods.get(index=job.index)
    if not PeriodSketch.objects.filter(period=period).update(content=content):
        PeriodSketch.objects.create(period=period, content=content)


def forget(stream: Stream) -> None:
    """When no period can follow, or the records are erased."""
    PeriodSketch.objects.filter(period__stream=stream).delete()
