from django.contrib.auth import views as django_views
from django.urls import path, reverse_lazy

from dpportal.accounts import views
from dpportal.accounts.forms import SignInForm

app_name = "accounts"

urlpatterns = [
    path(
        "sign-in/",
        django_views.LoginView.as_view(
            template_name="accounts/sign_in.html",
            authentication_form=SignInForm,
            redirect_authenticated_user=True,
        ),
        name="sign_in",
    ),
    path("sign-out/", django_views.LogoutView.as_view(), name="sign_out"),
    path("name/", views.display_name, name="display_name"),
    path(
        "password/",
        django_views.PasswordChangeView.as_view(
            template_name="accounts/password.html", success_url=reverse_lazy("accounts:password_changed")
        ),
        name="password_change",
    ),
    path(
        "password/changed/",
        django_views.PasswordChangeDoneView.as_view(template_name="accounts/password_changed.html"),
        name="password_changed",
    ),
]
