"""Columns that seem to identify people. The portal asks about them while each row is declared to be a person.

The result decides on a question to the curator, never on counts, charges or publications.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# What a row may belong to, in the languages of many tables: alone it is a name of people; with more words, as in
# “member since” and “patient type”, it says what an attribute is about.
_PERSON = (
    "(?:persons?|people|patient(?:in|en)?|pat|participant|subject|respondent|members?|mitglied|customers?|kunde"
    "|clients?|users?|accounts?|policyholder|taxpayer|versicherte|paciente|persona)"
)
# Of whom a number says who they are, and a word alone does not: “insured” may be yes or no.
_NUMBERED = (
    "(?:employee|student|pupil|insured|resident|citizen|card|household|person(?:en)?|patienten|mitglieds|kunden"
    "|versicherten|mitarbeiter|personal|schüler|teilnehmer)"
)
# Of which a person can have several.
_CASE = (
    "(?:case|fall|visit|stay|admission|encounter|episode|booking|order|invoice|claim|ticket|transaction|trip|receipt"
    "|aufnahme|aufenthalts?|behandlungs?|besuchs?|buchungs?|bestell(?:ung)?|auftrags?|rechnungs?|antrags?|vorgangs?"
    "|séjour|commande|facture)"
)
_NUMBER = "(?:no|nr|num|number|nummer|code|key|numéro|número)"
_ID = (
    "(?:ids?|pid|uid|uuid|guid|key|identifier|identification|ssn|mrn|nhs|pseudonym|kennung|kennziffer|steuernummer"
    f"|identifiant|identificador|matricule|(?:{_PERSON}|{_NUMBERED})(?:id|nr|no|number|nummer))"
)
_CASE_ID = f"(?:aktenzeichen|{_CASE}(?:id|nr|no|number|nummer))"
# What was done to a key.
_MADE = "(?: (?:hash|hashed|pseudonymi[sz]ed|anonymi[sz]ed|encrypted|old|new))*"
# Chinese has no spaces, and the end of a name says what it is.
_CHINESE_CASE = ".*(?:住院|就诊|门诊|订单|发票|案件|流水)(?:号码?|编号)"
_CHINESE = (
    ".*(?:编号|編號|身份证|身份證|(?:身份|证|证件|学|工|职工|员工|病历|病案|住院|就诊|门诊|卡|账|帐|会员|客户|用户|患者"
    "|手机|电话|社保|医保|保单|档案)号码?|姓名|用户名|账户|手机|电话|电话号码|邮箱|标识符?|標識|患者|病人|客户|会员|用户|受访者|参保人)"
)
_CASE_NAME = re.compile(f"(?:.* )?(?:{_CASE} (?:ids?|{_NUMBER})|{_CASE_ID}){_MADE}|{_CHINESE_CASE}")
_NAME = re.compile(
    f"(?:.* )?(?:(?:{_PERSON}|{_NUMBERED}) {_NUMBER}|{_ID}){_MADE}"
    f"|(?:{_ID} (?:(?:of|the|der|des|de|du|la|del) )*)?{_PERSON}|{_ID} {_NUMBER}|{_CHINESE}"
)
_PERSON_ALONE = re.compile(_PERSON)
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
    """Whether a column's name says that it identifies somebody, or somebody's case.

    As do “patient”, “patient_id” and “PersonNo”, but not “patient_type”, “member_since” or “number of rooms”.
    """
    words = _words(name)
    is_numbered = len(words) == 1 and bool(FULL_NAME.fullmatch(words[0]))
    return is_numbered or bool(_NAME.fullmatch(" ".join(words))) or names_a_case(name)


def names_a_case(name: str) -> bool:
    """Whether a column's name says that it numbers cases, visits or orders, of which a person can have several."""
    return bool(_CASE_NAME.fullmatch(" ".join(_words(name))))


def _words(name: str) -> list[str]:
    """Of names in several lines the last says what the column holds, those above only what it belongs to."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", name.rpartition(": ")[2])
    return [part.lower() for part in parts]


def _fewest_of_few(name: str, texts: Sequence[str]) -> int:
    """Different texts of a column so named, where there are few: a word of people alone may name a category."""
    return max(3, len(texts) // 2 + 1) if _PERSON_ALONE.fullmatch(" ".join(_words(name))) else 0


def looks_like_identifier(name: str, texts: Sequence[str]) -> bool:
    """Whether a column seems to identify people or their cases, by its name or by its first texts.

    A name does not decide where the texts are a few categories, as of “member: yes, no”. Without such a name
    texts are taken for keys if all are as long as each other, are many, and many come more than once or the name ends
    as that of a number does: “insured_no”.
    """
    distinct = set(texts)
    if named_like_identifier(name):
        return len(distinct) >= (FEWEST_KEYS if len(texts) >= FEWEST_TEXTS else _fewest_of_few(name, texts))
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
