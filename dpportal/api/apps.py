from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "dpportal.api"

    def ready(self) -> None:
        from dpportal.api.models import ApiToken, TokenCharge
        from dpportal.history.watched import watch

        times = ("made_at", "expires_at", "revoked_at")
        watch(ApiToken, "by", "name", "sha256", "scope", "limit", "counted_in", *times)
        watch(TokenCharge, "token", "entry")
