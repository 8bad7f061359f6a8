"""Texts that once changed how other people's rows were read, and reading options to read them with."""

from dpportal.tables import ReadOptions

TEXTS = [
    "", " ", "\xa0", "1", "1.0", "1.00", "01", "+1", "-1", "-0", "0.0", "1e0", "1E1", "1e400", "-1e400",
    "1,0", "1.5", "1,5", "1,234", "1.234", "1.234,5", "1,234.5", "12,34,567", "250.00", "250.1",
    "999999999999999999", "1234567890123456789", "0.1", ".5", "5.", "0.30000000000000004", "6.3", "nan",
    "NaN", "inf", "-Infinity", "U", "unknown", "NA", "?", "-99", "-99.0", "true", "TRUE", "True", "t",
    "yes", "No", "false", "F", "2", "#N/A", "=1+1", "007", "P1", "P1 ", "p1", "Zürich", "Zu\u0308rich",
    "Z\ufffdrich", " Zürich", "Z\xfcrich\xa0", "\u2003x", "\ufeffx", "x\u200b", "2020-02-29",
    "2020-02-30", "2020-02-29 23:00", "29.02.2020", "02/29/2020", "1/2/2020", "29. Feb 2020", "20200229",
    "1 239,41 \u20ac", "35kg", "-1.5\u2003%", "kg", "7 kgs", "S\u00ed", "S\u00cc", "Ja", "Nein", "nee", "oui", "non",
    'say "hi"', "'", "a,b", "a;b", "a\nb", "a\r\nb", "Other", "Missing",
]  # fmt: skip

OPTIONS = [
    ReadOptions(),
    ReadOptions(strip=False),
    ReadOptions(decimal=",", thousands=".", date_format="day-first"),
    ReadOptions(thousands=",", date_format="month-first", missing=("U", "unknown", "-99", "Zürich")),
    ReadOptions(
        decimal=",", thousands=" ", date_format="%d. %b %Y", strip=False, missing=("NA", "1.0", " x")
    ),
    ReadOptions(date_format="%Y%m%d", missing=("1", "?")),
    ReadOptions(decimal=",", thousands=" ", units=("\u20ac", "kg")),
    ReadOptions(units=("%", "kg")),
]
