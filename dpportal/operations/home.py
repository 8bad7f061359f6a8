"""The front door."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from dpportal.accounts.models import User
from dpportal.catalogue.views import catalogue


def home(request: HttpRequest) -> HttpResponseBase:
    """Send everyone who signed in to where their work is; others see what is published."""
    user = request.user
    if not isinstance(user, User):
        return catalogue(request)
    if user.is_administrator:
        return redirect("office")
    return redirect("datasets:list" if user.is_curator else "catalogue")
