"""The front door, and the answer to "is the web server up?"."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect

from dpportal.accounts.models import User


def home(request: HttpRequest) -> HttpResponseBase:
    """Send everyone to where their work is."""
    user = request.user
    if not isinstance(user, User):
        return redirect("accounts:sign_in")
    if user.is_administrator:
        return redirect("admin:index")
    return redirect("datasets:list" if user.is_curator else "releases:list")


def healthy(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")
