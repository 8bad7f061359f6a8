"""What tables of pages call their columns, in both languages, and which columns of files each of them shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mechanisms.domain import MISSING_LABEL, OTHER_LABEL

# What a column of numbers shows: columns of a file by their names, and with ± margins between the ends of an interval.
# Numbers within a heading are written {}, as is the first of them where a column is called so.
NUMBERS = {
    "Noisy count": "noisy_count|estimate",
    "Margin": "interval±|margin",
    "Margin (95 %)": "interval±",
    "Adjusted count": "count",
    "Number": "number",
    "Answer": "answer",
    "Cells": "cells",
    "Mean of the rows": "rows",
    "By its noisy counts, 95 %": "counted.*",
    "By bins alone, off by up to": "bins",
    "By its exact sum, 95 %": "summed.*",
    "{}: {}% of the variance": "{}",
    "Released count": "released_count",
    "From": "interval_lower",
    "To": "interval_upper",
    "New in the period": "increment",
    "New: from": "increment_lower",
    "New: to": "increment_upper",
    "People": "number(_lower|_upper|±)?",
    "Rows": "number(_lower|_upper|±)?",
    "Total": "total(_lower|_upper|±)?",
    "Mean": "mean(_lower|_upper|±)?",
    "Standard deviation": "deviation(_lower|_upper|±)?",
    "Without a value": "without_value(_lower|_upper|±)?",
    "Below {}": "share_at_low(_lower|_upper|±)?",
    "At {} or below": "share_at_low(_lower|_upper|±)?",
    "At {} or above": "share_at_high(_lower|_upper|±)?",
}
# And a column of words; periods are named by their first days.
WORDS = {"Query": "query", "Column": "column", "Value": "value", "Period": "begins", "Pair": "pair"}
EVERYBODY, ALL, STANDARDISED = "Overall", "All", "Standardised"
# Headings, and what the portal calls lines itself.
CHINESE = {
    "Noisy count": "加噪计数",
    "Margin": "误差范围",
    "Margin (95 %)": "误差范围（95%）",
    "Adjusted count": "调整后的计数",
    "Number": "编号",
    "Query": "查询",
    "Answer": "回答",
    "Method": "方法",
    "A column": "一列",
    "Pairs measured, at least": "测量的列对，至少",
    "Column": "列",
    "Value": "值",
    "Mean of the rows": "合成行的均值",
    "By its noisy counts, 95 %": "按其加噪计数，95%",
    "By bins alone, off by up to": "仅因分箱，最多偏移",
    "By its exact sum, 95 %": "按其精确求和，95%",
    "{}: {}% of the variance": "{}：方差的 {}%",
    "Pair": "列对",
    "How it is known": "得知方式",
    "Cells": "单元格",
    "Period": "周期",
    "Released count": "发布的计数",
    "From": "从",
    "To": "至",
    "New in the period": "该期新增",
    "New: from": "新增：自",
    "New: to": "新增：至",
    "People": "人数",
    "Rows": "行数",
    "Total": "总数",
    "Mean": "均值",
    "Standard deviation": "标准差",
    "Without a value": "无值",
    "Below {}": "小于 {}",
    "At {} or below": "不大于 {}",
    "At {} or above": "不小于 {}",
    "Picture": "图示",
    EVERYBODY: "总体",
    STANDARDISED: "标准化",
    "People, n": "人数，n",
    "Rows, n": "行数，n",
    "Mean (SD)": "均值（SD）",
    "Median (Q1, Q3)": "中位数 (Q1, Q3)",
    "5 %, 95 %": "5%, 95%",
    "{} or below (counted as {})": "{} 或以下（按 {} 计）",
    "{} or above (counted as {})": "{} 或以上（按 {} 计）",
    ALL: "全部",
    "all together": "全部合计",
    OTHER_LABEL: "其他",
    MISSING_LABEL: "缺失",
    "measured": "测量",
    "modelled": "由模型推出",
    "Latent classes": "潜类别",
    "Clusters": "聚类",
    "Tree of pairs": "列对树",
    "Principal components": "主成分",
    "Private partition": "私密划分",
    "Independent columns": "独立列",
}
# In cells beside numbers and names; longer ones first.
_IN_CELLS = {
    "not determined": "无法确定",
    "less than": "小于",
    "or less": "或更小",
    "or more": "或更大",
    "or earlier": "或更早",
    "or later": "或更晚",
    "used here": "此处所用",
    "n (%)": "n（%）",
    "over": "超过",
    "under": "低于",
    "none": "无",
    "days": "天",
    "day": "天",
    "to": "至",
}
_CELL_WORDS = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in _IN_CELLS))
# Between two groups of which the second is subtracted.
_LESS = " − "


def pattern(phrase: str) -> re.Pattern[str]:
    """A phrase with any texts in the places of its numbers."""
    return re.compile("(.+)".join(map(re.escape, phrase.split("{}"))))


_PATTERNS = {phrase: pattern(phrase) for phrase in CHINESE if "{}" in phrase}


def numbers_of(heading: str) -> re.Pattern[str] | None:
    """What a column of numbers under this heading may show; None of a heading that names no such column."""
    if heading in NUMBERS:
        return re.compile(NUMBERS[heading])
    phrase = next((each for each in _phrases(heading) if each in NUMBERS), "")
    match = _PATTERNS[phrase].fullmatch(heading) if phrase else None
    return re.compile(NUMBERS[phrase].format(re.escape(match[1]))) if match else None


def _phrases(text: str) -> Iterator[str]:
    return (phrase for phrase, own in _PATTERNS.items() if own.fullmatch(text))


def is_translation(english: str, chinese: str) -> bool:
    """Whether a Chinese page may call so what the English one calls otherwise; names are the same in both."""
    if chinese in (english, CHINESE.get(english)):
        return True
    for phrase in _phrases(english):
        match = _PATTERNS[phrase].fullmatch(english)
        if match and CHINESE[phrase].format(*match.groups()) == chinese:
            return True
    if _without_blanks(_translated(english)) == _without_blanks(chinese):
        return True
    parts, others = english.split(_LESS), chinese.split(_LESS)
    return len(parts) == len(others) == 2 and all(map(is_translation, parts, others))


def _translated(cell: str) -> str:
    """The words beside numbers and names, and a name that a word follows."""
    words = _CELL_WORDS.sub(lambda word: _IN_CELLS[word[0]], cell)
    name, blank, more = words.partition(" 此")
    return f"{CHINESE.get(name, name)}{blank}{more}"


def _without_blanks(text: str) -> str:
    return "".join(text.split())
