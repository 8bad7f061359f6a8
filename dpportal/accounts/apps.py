from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "dpportal.accounts"

    def ready(self) -> None:
        from dpportal.accounts import audit, known_browsers, sessions, sign_ins, triggers
        from dpportal.accounts.factors import rules
        from dpportal.history import chain

        sign_ins.connect()
        known_browsers.connect()
        sessions.connect()
        rules.connect()
        triggers.GUARD.connect(self)
        chain.declare(audit.LINE)
