"""Which encoding a file without a mark seems to have, where its first bytes are no UTF-8.

A guess that its curator sees and can change; once it is declared, no file's bytes change it. Western European text is
told by its letters beyond ASCII, which stand alone between others: “für”, “Größe”. Letters of other scripts stand in
rows. Of their encodings that one is taken whose reading has the script's common letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

USUAL = "windows-1252"
# Of the bytes beyond ASCII in different runs, at least so many stand in rows of three where the text is not Western.
LEAST_IN_ROWS = 0.5
SHORTEST_ROW = 3
# Of the different letters beyond ASCII in a reading, at least so many are common ones of its script.
LEAST_AT_HOME = 0.8
# A reading that is at least so plausible is taken.
LEAST_PLAUSIBLE = 0.9
# Digits, marks and line ends have a NUL in a file of wide letters, always on the same side.
MOST_NUL, FEWEST_NUL, MOST_LINE_ENDS = 0.02, 0.1, 0.6

_RUN = re.compile(rb"[\x80-\xff]+")
_BEYOND = re.compile("[^\x00-\x7f]+")
# Bytes that no Western text has: without a meaning there, or signs between letters.
_NEVER_WESTERN = frozenset(b"\x81\x83\x8d\x8f\x90\x9d")
# As tables are headed and filled in Chinese and Korean, whose letters have the same bytes; traditional ones too.
_HANZI = frozenset(
    "的是在有人不男女性别年龄月日编号姓名地区县市省城乡村镇东西南北中上下大小学历职业收入支出教育工作单位民族婚姻状况"
    "否已未无其他户口籍身份证电话时间数量类型等级合计总额元万千百平均比例健康疾病医院门诊住院参保险农非公司个"
    "性別齡編號區縣東業收學歷職員電話時間數類級計總萬單況無戶險醫療診國臺灣灣區鄉鎮鄰里"
)
_HANGUL = frozenset(
    "이다의가에는을를로하고지사기도자인시대일수성별연령나남여구동군면학교력직업소득월년주택지역서울부산경기강원충북남전제주광"
    "번호명이름구분예아니오없음있음무유합계총액원비율건강질병의료보험"
)
_CYRILLIC = re.compile("[\u0400-\u045f]+")
_GREEK = re.compile("[\u0384-\u03ce]+")


@dataclass(frozen=True)
class Script:
    """An encoding, and how well a text read by it is one of its script, 0 to 2; about 1 says all letters are common."""

    encoding: str
    plausible: Callable[[str], float]


def guessed_encoding(head: bytes) -> str:
    """The encoding of a file that begins so, has no mark and is neither UTF-8 nor wide."""
    head = head[: head.rfind(b"\n") + 1] or head
    if not _is_in_rows(head):
        return USUAL
    plausible = {script.encoding: script.plausible(_letters(head, script.encoding)) for script in SCRIPTS}
    best = max(plausible, key=lambda encoding: plausible[encoding])
    return best if plausible[best] >= LEAST_PLAUSIBLE else USUAL


def wide_encoding(head: bytes) -> str:
    """UTF-16 without a mark, told by the NUL bytes beside digits and marks; empty for other files."""
    low, high = head[0::2].count(0), head[1::2].count(0)
    encoding, more, less = ("utf-16-le", high, low) if high > low else ("utf-16-be", low, high)
    half = max(1, len(head) // 2)
    if more < FEWEST_NUL * half or less > MOST_NUL * half:
        return ""
    text = head[: len(head) // 2 * 2].decode(encoding, "replace")
    # Half of a letter of four bytes may end the sample.
    is_text = not {"\0", "\ufffd"} & set(text[:-1])
    # Where a text of narrow letters holds NUL bytes, only some of its lines end beside one.
    ends_lines = text.count("\n") >= max(1, MOST_LINE_ENDS * head.count(b"\n"))
    return encoding if is_text and ends_lines else ""


def _is_in_rows(head: bytes) -> bool:
    """Whether bytes beyond ASCII stand in rows, as they do not in Western text. Each different run counts once."""
    runs = set(_RUN.findall(head))
    in_rows = sum(len(run) for run in runs if len(run) >= SHORTEST_ROW or not _NEVER_WESTERN.isdisjoint(run))
    return in_rows >= LEAST_IN_ROWS * max(1, sum(map(len, runs)))


def _letters(head: bytes, encoding: str) -> str:
    """The different words beyond ASCII, read so, with blanks between."""
    return " ".join(sorted(set(_BEYOND.findall(head.decode(encoding, "replace")))))


def _share(text: str, is_common: Callable[[str], bool]) -> float:
    letters = [letter for letter in text if letter != " "]
    return sum(map(is_common, letters)) / max(1, len(letters))


def _lead(letter: str, encoding: str) -> int:
    """The first byte of a letter of two bytes; 0 for others."""
    written = letter.encode(encoding, "ignore")
    return written[0] if len(written) == 2 else 0


def _of_leads(encoding: str, first: int, last: int, common: frozenset[str]) -> Callable[[str], float]:
    """Plausible by letters whose first byte is that of marks or common letters, and more by those of headings."""

    def plausible(text: str) -> float:
        at_home = _share(text, lambda letter: first <= _lead(letter, encoding) <= last)
        return at_home + _share(text, common.__contains__) if at_home >= LEAST_AT_HOME else at_home

    return plausible


def _japanese(text: str) -> float:
    """Kana, and the first level of kanji; half-wide kana are what Chinese looks like when it is read so."""
    at_home = _share(text, lambda letter: 0x81 <= _lead(letter, "shift-jis") <= 0x98)
    kana = _share(text, lambda letter: "\u3041" <= letter <= "\u30fe")
    return at_home + max(kana, _share(text, _HANZI.__contains__)) if at_home >= LEAST_AT_HOME else at_home


def _of_alphabet(script: re.Pattern[str], common: str) -> Callable[[str], float]:
    """Plausible by words whose capitals stand first or throughout, and by letters that make up half of a text."""

    def plausible(text: str) -> float:
        words = script.findall(text)
        as_written = sum(len(word) for word in words if word.islower() or word.istitle() or word.isupper())
        at_home = as_written / max(1, len(text.replace(" ", "")))
        return at_home * min(1.0, 2 * _share("".join(words).lower(), common.__contains__))

    return plausible


SCRIPTS = (
    Script("gb18030", _of_leads("gb2312", 0xB0, 0xD7, _HANZI)),
    Script("big5", _of_leads("big5", 0xA1, 0xC6, _HANZI)),
    Script("euc-kr", _of_leads("euc-kr", 0xB0, 0xC8, _HANGUL)),
    Script("shift-jis", _japanese),
    Script("windows-1251", _of_alphabet(_CYRILLIC, "оеаинтсрвл")),
    Script("koi8-r", _of_alphabet(_CYRILLIC, "оеаинтсрвл")),
    Script("windows-1253", _of_alphabet(_GREEK, "αοιετσνηυρ")),
)
