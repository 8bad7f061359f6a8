app_name = "streams"

urlpatterns: list[object] = []
