"""Gunicorn's options for the portal: `gunicorn -c python:dpportal.serving.options`."""

wsgi_app = "dpportal.asgi:application"
worker_class = "dpportal.serving.gunicorn_worker.Worker"
workers = 2
# The processes share the memory of what was loaded before they began.
preload_app = True
# Connections of each process, most of them waiting for their visitor.
worker_connections = 4000
keepalive = 5
timeout = 120
graceful_timeout = 10
asgi_lifespan = "off"
loglevel = "warning"
# What proxies say is believed by `forwarding` alone, from those that the site declares.
forwarded_allow_ips = ""
