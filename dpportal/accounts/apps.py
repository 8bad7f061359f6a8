from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "dpportal.accounts"

    def ready(self) -> None:
        from dpportal.accounts import known_browsers, sessions, sign_ins

        sign_ins.connect()
        known_browsers.connect()
        sessions.connect()
