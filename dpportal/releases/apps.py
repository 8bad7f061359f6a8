from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "dpportal.releases"
    label = "releases"

    def ready(self) -> None:
        from dpportal.releases.products.queries import strategies
        from mechanisms.matrix.mechanism import kept_by

        kept_by(strategies.kept)
