from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "dpportal.api"

    def ready(self) -> None:
        from dpportal.api.models import ApiToken, TokenCharge
        from dpportal.history.watched import watch

        watch(ApiToken, "by", "sha256", "scope", "limit", "counted_in", "expires_at", "revoked_at")
        watch(TokenCharge, "token", "entry")
