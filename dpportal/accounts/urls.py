from django.urls import path

from dpportal.accounts import languages, views
from dpportal.accounts.factors import door, pages
from dpportal.accounts.provider import views as provider

app_name = "accounts"

urlpatterns = [
    path("sign-in/", door.SignIn.as_view(), name="sign_in"),
    path("sign-in/second-step/", door.second_step_page, name="second_step"),
    path("sign-in/passkey/", door.PasskeySignIn.as_view(), name="passkey_sign_in"),
    path("sign-in/passkey/options/", door.passkey_options, name="passkey_sign_in_options"),
    path("sign-in/institution/", provider.begin, name="provider"),
    path("sign-in/institution/answer/", provider.answer, name="provider_answer"),
    path("institution/linked/", provider.link, name="link_provider"),
    path("institution/unlinked/", provider.unlink, name="unlink_provider"),
    path("second-factors/", pages.page, name="factors"),
    path("second-factors/app/", pages.begin_app, name="begin_app"),
    path("second-factors/app/confirm/", pages.confirm_app, name="confirm_app"),
    path("second-factors/passkeys/", pages.add_passkey, name="add_passkey"),
    path("second-factors/passkeys/options/", pages.passkey_options, name="passkey_options"),
    path("second-factors/recovery-codes/", pages.new_codes, name="new_codes"),
    path("second-factors/removed/", pages.remove, name="remove_factor"),
    path("second-factor-rule/", pages.rule, name="second_factor_rule"),
    path("language/", languages.choose, name="language"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("name/", views.display_name, name="display_name"),
    path("sessions/", views.own_sessions, name="sessions"),
    path("sessions/ended/", views.end_session, name="end_session"),
    path("password/", views.password, name="password_change"),
    path("password/changed/", views.password_changed, name="password_changed"),
    path("password/forgotten/", views.forgotten, name="forgotten"),
    path("password/forgotten/sent/", views.forgotten_sent, name="forgotten_sent"),
    path("password/replace/<uidb64>/<token>/", views.replace, name="replace"),
    path("password/choose/<uidb64>/<token>/", views.choose, name="choose"),
    path("password/replaced/", views.replaced, name="replaced"),
]
