"""Simplified Chinese: 2026年11月27日 14:05, and 1,234.5 as charts and files write it."""

DATE_FORMAT = "Y年n月j日"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y年n月j日 H:i"
SHORT_DATE_FORMAT = "Y年n月j日"
SHORT_DATETIME_FORMAT = "Y年n月j日 H:i"
MONTH_DAY_FORMAT = "n月j日"
DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
