from django.urls import path

from dpportal.accounts import views

app_name = "accounts"

urlpatterns = [
    path("sign-in/", views.sign_in, name="sign_in"),
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
