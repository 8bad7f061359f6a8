"""Django's classes that are generic for the type checker alone, made subscriptable when the program runs, too."""

from __future__ import annotations

from django.contrib.admin.options import BaseModelAdmin
from django.contrib.syndication.views import Feed
from django.db.models import Field
from django.forms import ModelChoiceField
from django.forms.models import BaseModelForm


def make_subscriptable() -> None:
    """Let a base class be written as `ModelForm[Dataset]`; the class itself stays as it is."""
    for each in (BaseModelAdmin, BaseModelForm, Feed, Field, ModelChoiceField):
        each.__class_getitem__ = classmethod(lambda cls, *_types: cls)  # type: ignore[union-attr]
