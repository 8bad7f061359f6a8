from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "dpportal.accounts"
    label = "accounts"

    def ready(self) -> None:
        from dpportal.accounts import sessions, sign_ins

        sign_ins.connect()
        sessions.connect()
