"""The front door."""

from django.http import HttpRequest, HttpResponseBase
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
