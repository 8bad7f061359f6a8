"""Columns that seem to identify people. The portal asks about them while each row is declared to be a person.

The result decides on a question to the curator, never on counts, charges or publications.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# A word of a column's name that says so, in the languages of many tables, and whole names that can only mean that.
WORD = re.compile(
    "ids?|pid|uid|uuid|guid|key|identifier|identification|persons?|people|patients?|pat|patid|patnr|patno|participant|subject|respondent"
    "|member|customer|client|user|account|personid|patientid|ssn|mrn|nhs|pseudonym|policyholder|taxpayer"
    "|kennung|kennziffer|aktenzeichen|fallnummer|antragsnummer|kundennummer|mitgliedsnummer|steuernummer"
    "|versicherte|versichertennummer|personalnummer"
    "|matricule|identifiant|paciente|persona|identificador"
    # Chinese has no spaces, and the end of a name says what it is.
    "|.*(?:编号|編號|身份证|身份證|(?:身份|证|证件|学|工|职工|员工|病历|病案|住院|就诊|门诊|卡|账|帐|会员|客户|用户|患者"
    "|手机|电话|社保|医保|保单|档案)号码?|姓名|用户名|账户|手机|电话|电话号码|邮箱|标识符?|標識|患者|病人|客户|会员|用户|受访者|参保人)"
)
FULL_NAME = re.compile("no|nr|number|nummer|序号|号码|号")
# Numbers and codes as people write keys: all as long as each other, with at least so many signs.
SHORTEST_KEY = 5
# Months such as 2024-07 are written alike, too.
KEY = re.compile(r"(?![0-9]{4}-[0-9]{2}$)[A-Za-z0-9][A-Za-z0-9-]*")
# Nearly all keys have a digit; of random letters and digits a few have none.
MOST_WITH_DIGITS = 0.95
FEWEST_TEXTS, FEWEST_KEYS = 20, 10
# Different keys among the first texts, at most: three of four, as where one person in three has a second row.
MOST_DIFFERENT = 0.75


def named_like_identifier(name: str) -> bool:
    """Whether a column's name says that it identifies somebody: “patient_id”, “PersonNo”, but not “number of rooms”."""
    words = _words(name)
    return any(map(WORD.fullmatch, words)) or (len(words) == 1 and bool(FULL_NAME.fullmatch(words[0])))


def _words(name: str) -> list[str]:
    """Of names in several lines the last says what the column holds, those above only what it belongs to."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", name.rpartition(": ")[2])
    return [part.lower() for part in parts]


def looks_like_identifier(name: str, texts: Sequence[str]) -> bool:
    """Whether a column seems to identify people, by its name or by its first texts.

    A name does not decide where the texts are a few categories, as of “member: yes, no”. Without such a name
    texts are taken for keys if all are as long as each other, are many, and many come more than once or the name ends
    as that of a number does: “insured_no”.
    """
    distinct = set(texts)
    if named_like_identifier(name):
        return len(texts) < FEWEST_TEXTS or len(distinct) >= FEWEST_KEYS
    if len(texts) < FEWEST_TEXTS or len(distinct) < FEWEST_KEYS or len(set(map(len, distinct))) > 1:
        return False
    repeated = len(distinct) <= MOST_DIFFERENT * len(texts)
    numbered = any(map(FULL_NAME.fullmatch, _words(name)[-1:]))
    return (
        (repeated or numbered)
        and len(next(iter(distinct))) >= SHORTEST_KEY
        and all(map(KEY.fullmatch, distinct))
        and sum(bool(re.search("[0-9]", text)) for text in distinct) >= MOST_WITH_DIGITS * len(distinct)
    )
