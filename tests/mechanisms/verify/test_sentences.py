"""Numbers in sentences are what the sentence says; those of a Chinese text are those of the English one."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from mechanisms.verify import sentences, translated
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.quantities import Quantities

LOSS = {"definition": "pure", "amount": "1/2", "neighbours": "add-remove", "max_rows": 3}
CELLS = "colour,noisy_count,count,interval_lower,interval_upper\nred,412,410,404,420\nblue,97,97,89,105\n"


@pytest.fixture
def quantities(tmp_path: Path) -> Quantities:
    path = tmp_path / "release.zip"
    plan = {"loss": LOSS, "half_width": 8}
    release = {"plan": plan, "files": {}, "product": "histogram", "measured_at": "2026-11-28T10:00:00+00:00"}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("release.json", json.dumps(release))
        archive.writestr("histogram.csv", CELLS)
    return Quantities(Bundle.read(path))


TRUE = (
    "measured 28 November 2026 by",
    "This release is differentially private with ε = 0.5: at most a factor of 1.65 from",
    "A person counts with at most 3 rows",
    "has a line for each of the 2 cells",
    "509 people, by colour.",
    "within ± 8 of its noisy count with probability 95 % or more",
    "unless it has more than 1,048,576 lines, which no spreadsheet holds",
)


@pytest.mark.parametrize("sentence", TRUE)
def test_each_number_is_that_of_its_sentence_and_no_other_of_the_release(quantities, sentence):
    found = sentences.placed(sentence, quantities)
    assert found and all(found.values())
    for place in found:
        end = next(
            (at for at in range(place, len(sentence)) if sentence[at] not in "0123456789.,"), len(sentence)
        )
        for other in ("97", "412", "412.5"):
            forged = sentences.placed(sentence[:place] + other + sentence[end:], quantities)
            assert not all(forged.values()), (sentence, other)


def test_what_a_release_does_not_have_is_not_asked_of_its_sentences(quantities):
    assert sentences.placed("for each of the 7 queries", quantities) == {}
    assert sentences.placed("Something else: 7", quantities) == {}


ENGLISH = "<p>Measured 28 November 2026.</p><p>A person has 1 row; 509 people.</p><svg><text>7</text></svg>"
CHINESE = "<p>于2026年11月28日测量。</p><p>每个人一行；共 509 人。</p><svg><text>7</text></svg>"


def test_a_chinese_page_has_the_numbers_of_the_english_one():
    assert translated.strange(ENGLISH, CHINESE) == []
    for old, new in (("509", "508"), ("11月", "12月"), ("28日", "27日"), ("一行", "2 行")):
        assert translated.strange(ENGLISH, CHINESE.replace(old, new)) != []
    assert translated.strange(ENGLISH, CHINESE.replace("<p>每", "<p></p><p>每")) == ["¶"]


README = """# Test

It holds 21 tables.

## Load them

```python
table.head(10)
```

## Standard errors

Table 0 is fitted; the margin is 95 %.

```python
again = 2.1
```

# 中文说明

含有 21 张表。第 0 张表；误差范围 95%。
"""


def test_code_stands_in_english_alone_and_what_comes_after_it_in_both():
    _english, strange = translated.english_part(README, "Test")
    assert strange == []
    for old, new in (("21 张", "22 张"), ("95%", "90%"), ("Table 0", "Table 7")):
        assert translated.english_part(README.replace(old, new), "Test")[1] != []


def test_what_is_new_in_a_running_count_is_that_of_its_last_period(quantities):
    quantities.derived.newest = [200.0, 12.0, 9.2, 4.1]
    said = "Up to period 5: 200 ± 10 people in all. New in that period: 12 ± 5."
    assert all(sentences.placed(said, quantities).values())
    for own, other in (("200", "7200"), ("± 10", "± 12"), ("12 ±", "13 ±"), ("± 5", "± 7")):
        assert not all(sentences.placed(said.replace(own, other), quantities).values()), other
