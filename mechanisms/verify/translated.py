"""Whether a Chinese text has the numbers of the English one, paragraph by paragraph."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

from mechanisms.verify.shown_numbers import NUMBER

_UNREAD = re.compile(r"<(style|script|svg)\b.*?</\1>|<!--.*?-->", re.DOTALL)
_BLOCK = re.compile(r"</?(?:p|h[1-6]|li|dt|dd|td|th|tr|figcaption|summary|title|caption|div|section)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
# Months are words in English.
_DATES = re.compile(r"[0-9]{1,2} [A-Z][a-z]+ [0-9]{4}|[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日|1970 年 1 月 1 日")


def strange(english: str, chinese: str) -> list[str]:
    """The numbers of a page's paragraphs that are not the same in both; all where they have other paragraphs."""
    one, other = _numbers(english), _numbers(chinese)
    if len(one) != len(other):
        return ["its paragraphs"]
    return [
        number
        for first, second in zip(one, other, strict=True)
        for number in (first - second) + (second - first)
    ]


def missing(english: str, chinese: str) -> list[str]:
    """The numbers that a text has oftener in one of both, whatever the order of their paragraphs."""
    first, second = numbers(english), numbers(chinese)
    return [*(first - second), *(second - first)]


def _numbers(page: str) -> list[Counter[str]]:
    paragraphs = _BLOCK.split(_UNREAD.sub(" ", page))
    return [numbers(unescape(_TAG.sub(" ", each))) for each in paragraphs]


def numbers(text: str) -> Counter[str]:
    """Those of a paragraph, but for dates and for 1, which is a word in many sentences."""
    return Counter(number for number in NUMBER.findall(_DATES.sub(" ", text)) if number != "1")
