"""Whether a Chinese text has the numbers of the English one, paragraph by paragraph."""

from __future__ import annotations

import re
from collections import Counter

from mechanisms.domain import MISSING_LABEL, OTHER_LABEL
from mechanisms.verify.headings import is_translation
from mechanisms.verify.html_tables import every_row, tables_of
from mechanisms.verify.page_text import plain

_UNREAD = re.compile(r"<(style|script|svg)\b.*?</\1>|<!--.*?-->", re.DOTALL)
_BLOCK = re.compile(r"</?(?:p|h[1-6]|li|dt|dd|td|th|tr|figcaption|summary|title|caption|div|section)\b[^>]*>")
# Chinese has no blank before a number.
NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[0-9][0-9,\u202f]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_ENGLISH_DATE = re.compile(rf"([0-9]{{1,2}}) ({'|'.join(_MONTHS)}) ([0-9]{{4}})")
_CHINESE_DATE = re.compile(r"([0-9]{4}) ?年 ?([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?日")
# What charts call the cells that the portal added to a column.
OWN_CELLS = frozenset({OTHER_LABEL, MISSING_LABEL, "其他", "缺失"})
_CHINESE_PART = "# 中文说明"
# What stands in English alone: how files are read by programs, and other code.
_ENGLISH_ALONE = re.compile(r"^## Load them$.*?(?=^## |\Z)|^```.*?^```$", re.DOTALL | re.MULTILINE)


def strange(english: str, chinese: str) -> list[str]:
    """The numbers of a page's paragraphs that are not the same in both; a mark where they have other paragraphs."""
    one, other = _numbers(english), _numbers(chinese)
    if len(one) != len(other):
        return ["¶"]
    return [
        number
        for first, second in zip(one, other, strict=True)
        for number in (first - second) + (second - first)
    ]


def strange_cells(english: str, chinese: str) -> list[str]:
    """Cells of a Chinese page's tables, headings too, that say something else than the English page's do."""
    one, other = ([every_row(table) for table in tables_of(page)] for page in (english, chinese))
    shapes = [[[len(row) for row in rows] for rows in tables] for tables in (one, other)]
    if shapes[0] != shapes[1]:
        return ["¶"]
    pairs = (
        pair
        for tables in zip(one, other, strict=True)
        for rows in zip(*tables, strict=True)
        for pair in zip(*rows, strict=True)
    )
    return [second for first, second in pairs if not is_translation(first, second)]


def english_part(readme: str, title: str) -> tuple[str, list[str]]:
    """The English part of README.md, and the numbers that it or the Chinese one has oftener, in whatever order.

    Code stands in the English one alone, and so does the release's title.
    """
    english, _begin, chinese = readme.partition(_CHINESE_PART)
    first, second = numbers(_ENGLISH_ALONE.sub("", english)), numbers(chinese) + numbers(title)
    return english, [*(first - second), *(second - first)] if chinese else []


def paragraphs(page: str) -> list[str]:
    """What people read of a page in one line or the lines after it, cells of tables each by itself."""
    return [plain(each) for each in _BLOCK.split(_UNREAD.sub(" ", page))]


def _numbers(page: str) -> list[Counter[str]]:
    return list(map(numbers, paragraphs(page)))


def numbers(text: str) -> Counter[str]:
    """Those of a paragraph, dates as one each, but for 1, which is a word in many sentences."""
    dates = [
        f"{year}-{1 + _MONTHS.index(month)}-{int(day)}" for day, month, year in _ENGLISH_DATE.findall(text)
    ]
    dates += [f"{year}-{int(month)}-{int(day)}" for year, month, day in _CHINESE_DATE.findall(text)]
    rest = _CHINESE_DATE.sub(" ", _ENGLISH_DATE.sub(" ", text))
    texts = (number.rstrip(",") for number in NUMBER.findall(rest))
    return Counter([*dates, *(number for number in texts if number != "1")])
