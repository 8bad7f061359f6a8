"""Many periods that are pasted: what is wrong is said at once, and the lines stay in their box."""

from __future__ import annotations

import pytest

from dpportal.streams.models import StreamJob


@pytest.mark.slow
@pytest.mark.parametrize("sent", [{}, {"pasted": "  "}, {"pasted": "period,count\n1,2", "dates": "%c"}])
def test_many_periods_need_one_source(curious, stream, sent: dict[str, str]) -> None:
    page = curious.post(f"/streams/{stream.pk}/add/many/", {"dates": "%Y-%m-%d", **sent})
    assert page.status_code == 422
    assert not StreamJob.objects.filter(kind="counts").exists()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("period,count\n1,5\n2,3.5\n", "Line 3"),
        ("period,count\n1,5\n3,3\n", "another period than 2 follows 1"),
        ("period,count\n", "holds no period"),
        ("\ufeffperiod,number\tof\r\n1,-5\r\n", "Line 2"),
    ],
)
def test_pasted_lines_in_which_something_is_wrong_stay_in_their_box(curious, stream, lines, said) -> None:
    page = curious.post(f"/streams/{stream.pk}/add/many/", {"pasted": lines, "dates": "%Y-%m-%d"})
    assert page.status_code == 422 and page.context["many"]["pasted"].value() == lines
    assert said in page.text and lines.splitlines()[-1] in page.text
    assert not StreamJob.objects.filter(kind="counts").exists()


@pytest.mark.slow
def test_pasted_lines_stay_in_their_box_while_another_file_is_in_work(curious, stream) -> None:
    sent = {"pasted": "period,count\n1,5\n", "dates": "%Y-%m-%d"}
    curious.post(f"/streams/{stream.pk}/add/many/", sent)
    page = curious.post(f"/streams/{stream.pk}/add/many/", sent)
    assert page.status_code == 422 and page.context["many"]["pasted"].value() == sent["pasted"]
    assert StreamJob.objects.filter(kind="counts").count() == 1
