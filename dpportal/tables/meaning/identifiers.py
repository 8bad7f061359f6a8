"""Columns that seem to identify people. The portal asks about them while each row is declared to be a person.

The result decides on a question to the curator, never on counts, charges or publications.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpportal.tables.meaning.name_words import words_of
from dpportal.tables.meaning.periods import are_periods, names_a_period

# What a row may belong to, in the languages of many tables: alone it is a name of people; with more words, as in
# “member since” and “patient type”, it says what an attribute is about.
_PERSON = (
    "(?:persons?|people|patient(?:in|en)?|pat|participant|subject|respondent|members?|mitglied|customers?|kunde"
    "|clients?|users?|accounts?|policyholder|taxpayer|versicherte|paciente|persona|personne|bénéficiaire|usager)"
)
# Of whom a number says who they are, and a word alone does not: “insured” may be yes or no.
_NUMBERED = (
    "(?:employee|student|pupil|insured|resident|citizen|card|household|person(?:en)?|patienten|mitglieds|kunden"
    "|versicherten|mitarbeiter|personal|schüler(?:in|innen)?|teilnehmer|bürger|studierenden|élève|étudiant|assuré|salarié"
    "|agent|allocataire|alumno|afiliado|empleado)"
)
# Of which a person can have several.
_CASE = (
    "(?:case|fall|visit|stay|admission|encounter|episode|booking|order|invoice|claim|ticket|transaction|trip|receipt"
    "|call|incident|permit|application|complaint|referral|request"
    "|aufnahme|aufenthalts?|behandlungs?|besuchs?|buchungs?|bestell(?:ung)?|auftrags?|rechnungs?|antrags?|vorgangs?"
    "|einsatz|akten?|anmelde|meldungs?|bescheids?"
    "|séjour|commande|facture|appel|dossier|visite|passage|intervention|demande|sinistre|affaire|plainte"
    "|caso|expediente|solicitud|visita|factura)"
)
_NUMBER = "(?:no|nr|num|number|nummer|code|key|numéro|número)"
# “Numéro de dossier” is a dossier's number, but “number of visits” is how many there are.
_NUMBER_OF = (
    "(?:(?:no|nr|nummer)(?: (?:d|de|du|des|der|l|la|le|del))+|n[uú]m[eé]ro(?: (?:d|de|du|l|la|le|del))*)"
)
_REFERENCE = "(?:ref|reference|référence|referenz|referencia)"
_ID = (
    "(?:ids?|pid|uid|uuid|guid|key|identifier|identification|ssn|mrn|nhs|pseudonym|kennung|kennziffer|steuernummer"
    f"|identifiant|identificador|matricule|(?:{_PERSON}|{_NUMBERED})(?:id|nr|no|number|nummer))"
)
_CASE_ID = f"(?:aktenzeichen|{_CASE}(?:id|nr|no|number|nummer))"
# Of what another language calls people, such as “id_pacjenta”; but “id_type” is what kind of identifier there is.
_ID_OF = "(?:id|pid|uid) (?!(?:typ|type|kind|status|date|class|card|check|source|format|country|required)$)[^ ]{4,}"
# What was done to a key.
_DERIVED = "(?: (?:hash|hashed|pseudonymi[sz]ed|anonymi[sz]ed|encrypted|old|new))*"
# Chinese has no spaces, and the end of a name says what it is.
_CHINESE_CASE = ".*(?:住院|就诊|门诊|订单|发票|案件|流水)(?:号码?|编号)"
_CHINESE = (
    ".*(?:编号|編號|身份证|身份證|(?:身份|证|证件|学|工|职工|员工|病历|病案|住院|就诊|门诊|卡|账|帐|会员|客户|用户|患者"
    "|手机|电话|社保|医保|保单|档案)号码?|姓名|用户名|账户|手机|电话|电话号码|邮箱|标识符?|標識|患者|病人|客户|会员|用户|受访者|参保人)"
)
_CASE_NAME = re.compile(
    f"(?:.* )?(?:{_CASE} (?:ids?|{_NUMBER}|{_REFERENCE})|{_CASE_ID}){_DERIVED}|{_NUMBER_OF} {_CASE}"
    f"|{_REFERENCE}(?: {_NUMBER})?|{_CHINESE_CASE}"
)
_NAME = re.compile(
    f"(?:.* )?(?:(?:{_PERSON}|{_NUMBERED}) {_NUMBER}|{_ID}){_DERIVED}"
    f"|{_ID_OF}|(?:{_ID} (?:(?:of|the|der|des|de|du|la|del) )*)?{_PERSON}|{_ID} {_NUMBER}|{_CHINESE}"
    rf"|{_NUMBER_OF} (?!\S*s$)(?:{_PERSON}|{_NUMBERED})"
)
_PERSON_ALONE = re.compile(_PERSON)
FULL_NAME = re.compile("no|nr|number|nummer|序号|号码|号")
# Numbers and codes as people write keys: all as long as each other, with at least so many signs.
SHORTEST_KEY = 5
KEY = re.compile("[A-Za-z0-9][A-Za-z0-9-]*")
_RANGE = re.compile("([0-9]+)-([0-9]+)")
# What repeats by its nature, of which the names know: places, occupations, diagnoses, money, and groups.
_COMMON = re.compile(
    "(?:zip|zips|post|postal|postcode|postleitzahl|plz|cp|insee|nuts[0-9]?|lau|ags|geo|fips|iso|country|land|pays|region"
    "|région|gemeinde|kreis|bezirk|kanton|canton|commune|municipality|municipio|county|state|district|département|ward"
    "|lsoa|msoa|oa|tract|block|city|town|ort|ville|station|school|schule|école|hospital|area|zone|iris"
    "|isco|soc|naf|nace|sic|naics|rome|occupation|profession|beruf|job|industry|branche|icd|cim|cie|diagnosis|diagnose"
    "|diagnostic|atc|ndc|drg|dx|procedure|product|produkt|produit|article|item|model"
    "|income|revenue?|revenu|revenus|einkommen|ingresos?|salary|salaire|gehalt|lohn|wage|wages|cost|costs|coût|kosten|price"
    "|preis|prix|amount|betrag|montant|rent|miete|loyer|eur|euro|usd|chf|turnover|umsatz|sales|value|wert|valeur"
    "|population|distance|weight|area|capital|gain|loss|balance"
    "|tranche|range|band|class|klasse|group|gruppe|groupe)"
)
_COMMON_CHINESE = re.compile(".*(?:邮编|邮政编码|区划|地区|省|市|区|县|收入|金额|价格|费用)")
# Nearly all keys have a digit; of random letters and digits a few have none.
MOST_WITH_DIGITS = 0.95
FEWEST_TEXTS, FEWEST_KEYS = 20, 10
# Different keys among the first texts, at most: three of four, as where one person in three has a second row.
MOST_DIFFERENT = 0.75


def named_like_identifier(name: str) -> bool:
    """Whether a column's name says that it identifies somebody, or somebody's case.

    As do “patient”, “patient_id” and “PersonNo”, but not “patient_type”, “member_since” or “number of rooms”.
    """
    words = words_of(name)
    is_numbered = len(words) == 1 and bool(FULL_NAME.fullmatch(words[0]))
    return is_numbered or bool(_NAME.fullmatch(" ".join(words))) or names_a_case(name)


def names_a_case(name: str) -> bool:
    """Whether a column's name says that it numbers cases, visits or orders, of which a person can have several."""
    return bool(_CASE_NAME.fullmatch(" ".join(words_of(name))))


def repeats_by_nature(name: str, texts: Sequence[str]) -> bool:
    """Whether many people share a value of the column: a time, a range, a place, a code of a list, or money.

    By a word of its name, or since all its texts are written so. texts: at least one.
    """
    if any(map(_COMMON.fullmatch, words_of(name))) or _COMMON_CHINESE.fullmatch(name.strip()):
        return True
    if names_a_period(name) or are_periods(texts) or all(map(_is_range, texts)):
        return True
    # Amounts are rounded, and numbers of people are not.
    return all(text.isdecimal() and text.endswith("0") for text in texts)


def _is_range(text: str) -> bool:
    ends = _RANGE.fullmatch(text)
    return ends is not None and int(ends[1]) < int(ends[2])


def _fewest_of_few(name: str, texts: Sequence[str]) -> int:
    """Different texts of a column so named, where there are few: a word of people alone may name a category."""
    return max(3, len(texts) // 2 + 1) if _PERSON_ALONE.fullmatch(" ".join(words_of(name))) else 0


def looks_like_identifier(name: str, texts: Sequence[str]) -> bool:
    """Whether a column seems to identify people or their cases, by its name or by its first texts.

    A name does not decide where the texts are a few categories, as of “member: yes, no”. Without such a name
    texts are taken for keys if all are as long as each other, are many, many people would not share them, and many come
    more than once or the name ends as that of a number does: “insured_no”.
    """
    distinct = set(texts)
    if named_like_identifier(name):
        return len(distinct) >= (FEWEST_KEYS if len(texts) >= FEWEST_TEXTS else _fewest_of_few(name, texts))
    if len(texts) < FEWEST_TEXTS or len(distinct) < FEWEST_KEYS or len(set(map(len, distinct))) > 1:
        return False
    repeated = len(distinct) <= MOST_DIFFERENT * len(texts)
    numbered = any(map(FULL_NAME.fullmatch, words_of(name)[-1:]))
    return (
        (repeated or numbered)
        and len(next(iter(distinct))) >= SHORTEST_KEY
        and all(map(KEY.fullmatch, distinct))
        and not repeats_by_nature(name, sorted(distinct))
        and sum(bool(re.search("[0-9]", text)) for text in distinct) >= MOST_WITH_DIGITS * len(distinct)
    )
