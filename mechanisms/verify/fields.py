"""Every entry of release.json: derived again, compared with something else, or the portal's word.

No entry may be of neither kind, so that nothing is read as verified which nobody looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.disclosure import Disclosure, loss_text, noise_facts, with_choices
from mechanisms.domain import Domain
from mechanisms.json_types import JsonObject
from mechanisms.moments.reading import reading
from mechanisms.tabular.headers import Headers
from mechanisms.verify.bundle import STREAM, Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.json_values import as_written, is_same, leaves
from mechanisms.verify.planned import Planned

WHAT, STATED, DISCLOSED = "release.json", "stated", "disclosure"
CHOSEN = "values_chosen_privately"
FORMAT = 1
# What nobody can tell from the bundle, and why. `*` stands for any name or number.
PORTALS_WORD = {
    "release": "its number in the portal",
    "stream": "its number in the portal",
    "title": "a name that its curator gave",
    "dataset": "a name that its curator gave",
    "curator": "the name by which its curator is shown",
    "about*": "what the curator says of the dataset",
    "measured_at": "the portal's clock",
    "opened_at": "the portal's clock",
    "closed_at": "the portal's clock",
    "last_published_at": "the portal's clock",
    "read_from*": "where the records lie",
    "columns*": "of randomised answers and private choices: what tables of the curator, and readers, call a column",
    "protects.person_column": "which column of the records names people",
    "protects.ignore_case": "how names of people were compared",
    "protects.by_curator": "who sees to it that nobody has more rows",
    "protects.rows_without_person": "which rows were left out",
    "protects.released_under_other_protections_too": "other releases of the same people",
    "protects.other_protections*": "other releases of the same people",
    "protects.other_datasets_of_nearly_the_same_people*": "other releases of the same people",
    "protects.number_of_rows_is_public_by_any_release": "other releases of the same people",
    "disclosure.values_chosen_privately*": "what was paid before, for the values of its columns",
    "disclosure.bounds_taken_from_data*": "of running counts: which bounds were taken from the data",
    "disclosure.software.version": "the version of the program that measured",
    "domain.version": "how the declaration came about",
    "domain.filled_from_data*": "how the declaration came about",
    "domain.values_chosen_privately*": "how the declaration came about",
    "versions*": "the versions of the portal's libraries",
    "plan.score.candidates*": "of a choice: the candidates that were not chosen, as declared",
    "plan.columns.*.column.attribute*": "of totals: how a measured column is declared beside its limits",
    "plan.twice*": "of a summary: which columns were to be more exact, which shares of the cost follow from",
    "plan.people": "of a summary: how many people its curator expected",
    "plan.criterion": "of rows of many columns: what columns were chosen by, where all are kept",
    "plan.details.stored_strategy": "of answers: where the portal keeps the strategy",
    "plan.lower_bound": "of answers: the least error that any strategy could have, by a search",
    "plan.total_error": "of a strategy that was searched for: what the search expected",
    "plan.details*": "of a strategy that was searched for: how the search went",
    "plan.explanation": "in a bundle of another version, or of a strategy that was searched for: its words",
    "counted.column": "which column was counted",
    "counted.values*": "where one running count is published: which values of the column it counts",
    "counted.summed": "which column was added up",
    "counted.summed_between*": "between which bounds its values were added up",
    "counted.largest_count_of_one_period": "what the curator expects",
    "calendar*": "what the curator calls the periods",
}
# Entries that no portal of this version leaves out.
EVERYWHERE = {
    "format",
    "product",
    "title",
    "dataset",
    "curator",
    "loss",
    "statement",
    "protects",
    "disclosure",
    "plan",
    "files",
    "versions",
}
OF_RELEASES = {"release", "measured_at", "domain", "measurement_sha256"}
OF_STREAMS = {"stream", "opened_at", "periods", "last_published_at", "counted", "calendar"}
OF_PRODUCTS = {
    "histogram": {"synthetic_rows"},
    "means": {"readings"},
    "microdata": {"synthetic_rows", "measured_pairs", "noise_of_columns", "noise_of_tables"},
    "queries": {"queries"},
    "selection": {"choice", "points_per_row"},
    "summary": {"number_of_people"},
}
# What some bundles have besides.
MAY_HAVE = {"about"}
RELEASES_MAY_HAVE = {"read_from", "columns"}
STREAMS_MAY_HAVE = {"closed_at"}
PRODUCTS_MAY_HAVE = {"histogram": {"chosen_method"}, "queries": {"synthetic_rows"}}
# Entries of an entry, none of which is left out.
INSIDE = {
    "protects": {
        "neighbours",
        "person_column",
        "ignore_case",
        "max_rows",
        "number_of_rows_is_public",
        "released_under_other_protections_too",
        "other_protections",
        "other_datasets_of_nearly_the_same_people",
        "number_of_rows_is_public_by_any_release",
    },
    "domain": {"version", "filled_from_data"},
    "counted": {"column", "values", "summed", "largest_count_of_one_period"},
    "calendar": {"step", "first_day"},
}
UNDISCLOSED = Finding(DISCLOSED, State.NOT_CHECKED, "it has none, as bundles of the first portals")
# Of the plan, what is the portal's word only where no plan can be made again.
SEARCHED = ("plan.lower_bound", "plan.total_error", "plan.details*", "plan.explanation")
# What other checks derive or compare: plan.*, the promise, digests, and what each product says of itself.
DERIVED = (
    "format", "product", "loss", "statement", "measurement_sha256", "periods", "plan*", "files*", "columns*",
    "protects.neighbours", "protects.max_rows", "protects.number_of_rows_is_public", "disclosure*",
    "synthetic_rows", "chosen_method", "queries", "choice*", "points_per_row", "readings*", "number_of_people*",
    "measured_pairs*", "noise_of_columns*", "noise_of_tables*", "counted.values*",
)  # fmt: skip


def check(bundle: Bundle, planned: Planned | None) -> Iterator[Finding]:
    """What release.json says beside plan, promise and files."""
    release = bundle.release
    paths = [path for path, _value in leaves(release)]
    unknown = [path for path in paths if not (_is_any(path, DERIVED) or _is_any(path, PORTALS_WORD))]
    is_sure = bundle.is_of_this_version
    if unknown:
        reason = f"no portal of this version says {unknown[0][:80]} in it"
        yield Finding.by_version(WHAT, reason, is_sure=is_sure)
    if planned is not None:
        if form := _fault_of_form(bundle, planned):
            yield Finding.by_version(WHAT, form, is_sure=is_sure)
        fault = _fault(bundle, planned)
        yield Finding.of(WHAT, fault, "what else it says beside the plan agrees with the plan")
        yield _disclosure(release, planned) if DISCLOSED in release else UNDISCLOSED
    yield _stated(bundle, planned, paths)


def _stated(bundle: Bundle, planned: Planned | None, paths: list[str]) -> Finding:
    stated = [path for path in paths if is_portals_word(bundle, planned, path)]
    names = dict.fromkeys(path.split(".")[0] for path in stated)
    return Finding(
        STATED,
        State.STATED,
        f"{len(stated)} entries of release.json are the portal's word, and cannot be checked from the bundle: "
        f"{', '.join(names)}",
    )


def is_portals_word(bundle: Bundle, planned: Planned | None, path: str) -> bool:
    """Whether an entry of release.json is neither derived again nor compared with anything."""
    if not _is_any(path, PORTALS_WORD):
        return False
    return path.startswith(DISCLOSED) or not _is_again(bundle, planned, path)


def _is_again(bundle: Bundle, planned: Planned | None, path: str) -> bool:
    """Whether an entry of the plan, or the names of columns, were made again after all."""
    if path.startswith("columns"):
        return bundle.release["product"] not in ("response", "selection")
    if path.startswith("counted.values"):
        return len(bundle.release["counted"]["values"]) > 1
    if path == "plan.explanation" and not bundle.is_of_this_version:
        return False
    is_stored = path == "plan.details.stored_strategy"
    return _is_any(path, SEARCHED) and not is_stored and planned is not None and planned.again is not None


def _is_any(path: str, patterns: Any) -> bool:
    """A name's star at its end is for what it holds, and for no other name that begins so."""
    return any(_matches(path, pattern) for pattern in patterns)


def _matches(path: str, pattern: str) -> bool:
    name = pattern.removesuffix("*")
    return fnmatchcase(path, name) or (name != pattern and fnmatchcase(path, f"{name}.*"))


def _fault(bundle: Bundle, planned: Planned) -> str:
    release = bundle.release
    if release.get("format") != FORMAT:
        return "its format is another one"
    if release["product"] == "means":
        own = [reading(planned.stated, column) for column in planned.stated.columns]
        if not is_same(release.get("readings"), own):
            return "it has other readings"
    return _fault_of_columns(bundle, planned) or _fault_of_sizes(bundle)


def _fault_of_form(bundle: Bundle, planned: Planned) -> str:
    """All that a portal says of such a product is there and nothing else, written as it writes."""
    release = bundle.release
    needed, allowed = _entries(release["product"])
    if missing := sorted(needed - set(release)):
        return f"it does not say {missing[0]}"
    if more := sorted(set(release) - allowed):
        return f"no portal of this version says {more[0][:80]} of such a product"
    for name in INSIDE.keys() & release.keys():
        if missing := sorted(INSIDE[name] - set(release[name])):
            return f"it does not say {name}.{missing[0]}"
    if bundle.content(WHAT) != as_written(release):
        return "it is written otherwise than a portal writes it"
    own = loss_text(planned.stated.loss, release[DISCLOSED].get(CHOSEN, []))
    return "" if is_same(release["loss"], own) else "it says another loss than the plan"


def _entries(product: str) -> tuple[set[str], set[str]]:
    """Those that release.json of a product has, and those that it may have."""
    is_stream = product == STREAM
    needed = EVERYWHERE | (OF_STREAMS if is_stream else OF_RELEASES) | OF_PRODUCTS.get(product, set())
    more = (STREAMS_MAY_HAVE if is_stream else RELEASES_MAY_HAVE) | PRODUCTS_MAY_HAVE.get(product, set())
    return needed, needed | MAY_HAVE | more


def _fault_of_columns(bundle: Bundle, planned: Planned) -> str:
    """Columns are called so in files, in whichever order they were released."""
    stated, plan = bundle.release.get("columns", []), planned.stated
    if bundle.release["product"] in ("histogram", "queries", "summary"):
        attributes = {a.name: a for a in plan.domain.attributes}
    elif bundle.release["product"] == "means":
        measured = [each.column.attribute for each in plan.columns]
        attributes = {a.name: a for a in (*plan.groups.attributes, *measured)}
    else:
        return ""
    if "codebook.csv" not in bundle.entries:  # where names for readers stand alone
        titled = {a.name: a.shown_name for a in attributes.values() if a.shown_name != a.name}
        same = [{"column": each, "title": titled.get(each)} for each in titled]
        return "" if sorted(stated, key=str) == sorted(same, key=str) else "it calls columns otherwise"
    columns = [each["column"] for each in stated]
    if sorted(columns) != sorted(attributes):
        return "it has other columns"
    names = Headers.of(Domain(tuple(attributes[column] for column in columns))).columns
    same_names = stated == [{"name": name, "column": column} for column, name in names.items()]
    return "" if same_names else "it calls columns otherwise"


def _fault_of_sizes(bundle: Bundle) -> str:
    for name, facts in bundle.release["files"].items():
        if set(facts) != {"bytes", "sha256"} or facts["bytes"] != bundle.size(name):
            return f"it says another size of {name}"
    return ""


def _disclosure(release: JsonObject, planned: Planned) -> Finding:
    """Derived from the plan and from what was paid before, but for the program's version."""
    stated, plan = dict(release[DISCLOSED]), planned.stated
    chosen = stated.pop(CHOSEN, None)
    loss: Loss = plan.loss
    total = with_choices(loss, chosen) if chosen else None
    noise, taken = noise_facts(plan.to_json()), _taken(release)
    whole_orders = release["product"] == STREAM and registry.stream(plan.mechanism).whole_orders
    # A choice's δ is added to that at which a ρ is stated.
    implied = stated.get("without_the_choice_of_values", stated).get("implies", {})
    delta = float(implied.get("delta", 1e-6)) if loss.definition is Definition.ZCDP else 0.0
    own = Disclosure(loss, delta, plan.mechanism, noise, whole_orders, total, taken).facts()
    own["software"]["version"] = stated.get("software", {}).get("version")
    other = next((name for name in own if not is_same(stated.get(name), own[name])), "")
    other = other or next(iter(set(stated) - set(own)), "")
    # Running counts have it here alone.
    if not other and "domain" in release and chosen != release["domain"].get(CHOSEN):
        other = CHOSEN
    return Finding.of(
        DISCLOSED, f"it says another {other} than the plan" if other else "", "it says what the plan does"
    )


def _taken(release: JsonObject) -> list[str]:
    """The columns whose bounds were taken from the data; running counts, which have no domain, say it here alone."""
    if "domain" in release:
        return list(release["domain"]["filled_from_data"])
    counted = release["counted"]
    stated = release[DISCLOSED].get("bounds_taken_from_data", [])
    return [column for column in stated if column in (counted["column"], counted["summed"])]
