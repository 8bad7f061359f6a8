"""Files that do not say their encoding: what is guessed by their letters, and Western Europe's as ever."""

from __future__ import annotations

import pytest

from dpportal.tables.formats.encoding import proposed_encoding

CHINESE = "编号,性别,年龄,区县,是否参保\n1,男,34,东城区,是\n2,女,51,海淀区,否\n"
TRADITIONAL = "編號,性別,年齡,縣市,職業\n1,男,34,臺北市,教師\n2,女,51,高雄市,護理師\n"
JAPANESE = "番号,性別,年齢,都道府県,コメント\n1,男性,34,東京都,とても良い\n2,女性,22,大阪府,ふつう\n"
KOREAN = "번호,성별,나이,지역,만족도\n1,남,34,서울특별시,매우 만족\n2,여,22,부산광역시,보통\n"
RUSSIAN = "номер,пол,возраст,район\n1,мужской,34,Центральный\n2,женский,5,Северный\n"
GREEK = "αριθμός,φύλο,ηλικία,περιφέρεια\n1,άνδρας,34,Αττική\n2,γυναίκα,5,Κρήτη\n"
WESTERN = (
    "Größe,Straße,Fälle\n1,Äußere Straße,öffentlich\n2,„Übrige“,süß – ja\n",
    "Größe,n\n1,2\n",
    "n,Art\n1,„Öffentlich“\n",
    "numéro,créé,âge\n1,créée,«été» à l’œuvre\n",
    "año,niños\n1,¿sí?\n2,ñandú\n",
    "køn,ålder,län\nkvinna,1,Örebro län\nø,2,å\n",
    "preis\n5 €\n§§ 1–3\n",
    "não,região\nsim,São João\n",
)


def guessed(tmp_path, content: bytes) -> str:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    return proposed_encoding(path)


@pytest.mark.parametrize("text", WESTERN)
@pytest.mark.parametrize("encoding", ["windows-1252", "utf-8"])
def test_letters_of_western_europe_are_read_as_ever(tmp_path, text, encoding):
    assert guessed(tmp_path, text.encode(encoding)) == encoding
    assert guessed(tmp_path, text.encode(encoding) * 50) == encoding


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gb18030"),
        ("姓名,职业,收入\n张伟,工程师,12000\n王芳,教师,8000\n", "gb18030"),
        ("性别,年龄\n男,34\n女,22\n", "gb18030"),
        (TRADITIONAL, "big5"),
        (JAPANESE, "shift-jis"),
        ("番号,性別,年齢\n1,男性,34\n2,女性,22\n", "shift-jis"),
        (KOREAN, "euc-kr"),
        ("성별,나이\n남,34\n여,22\n", "euc-kr"),
        (RUSSIAN, "windows-1251"),
        (RUSSIAN.upper(), "windows-1251"),
        (RUSSIAN, "koi8-r"),
        (GREEK, "windows-1253"),
    ],
)
def test_letters_of_other_scripts_are_told(tmp_path, text, encoding):
    assert guessed(tmp_path, text.encode(encoding)) == encoding
    # The sample may end within a letter.
    assert guessed(tmp_path, text.encode(encoding)[:-2]) == encoding


@pytest.mark.parametrize("text", [CHINESE, RUSSIAN, GREEK, KOREAN, "a,b\n1,2\n", WESTERN[0]])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_letters_are_told_without_a_mark(tmp_path, text, encoding):
    assert guessed(tmp_path, text.encode(encoding)) == encoding


@pytest.mark.parametrize("content", [b"a,b\n1,\0\n" * 9, b"\0\1\2\3" * 50, bytes(range(256)) * 9])
def test_bytes_that_are_no_wide_text_are_not_taken_for_one(tmp_path, content):
    assert not guessed(tmp_path, content).startswith("utf-16")
