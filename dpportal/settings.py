"""Settings of the portal. Everything a site changes comes from environment variables; see README.md."""

import gc
import json
import os
import tempfile
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import dj_database_url
import plotly
from django.core.exceptions import ImproperlyConfigured
from pythonjsonlogger.core import RESERVED_ATTRS

from dpportal.jobs import queues
from dpportal.platform import cores, master_key
from dpportal.platform.data_folder import prepare
from dpportal.platform.environment import networks, one_of, origin, positive_integer
from dpportal.platform.identity_provider import IdentityProvider
from dpportal.platform.keys import new_secret
from dpportal.platform.mail import MailServer
from dpportal.platform.secret_files import SecretFiles
from dpportal.platform.signing import SigningKeys
from dpportal.platform.two_people import TwoPeople

# What is imported lives to the end. Searches for garbage went through all of it again and again, two fifths of a start;
# once the last room is ready (`catalogue/apps.py`) there are some again, without what was imported.
gc.disable()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = prepare(Path(os.environ.get("DPPORTAL_DATA_DIR", BASE_DIR / "data")).resolve())

# Wraps the keys of datasets' files and the secrets below: without it a copy of the data folder opens nothing.
MASTER_KEY = master_key.given(DATA_DIR)
MASTER_KEYS = MASTER_KEY.keyring()
SECRETS = SecretFiles(DATA_DIR, MASTER_KEY)
# Where the master key is missing, another one for as long as this process and its copies live: all are signed out.
SECRET_KEY = SECRETS.current("secret_key") or new_secret()
FINGERPRINT_KEY = SECRETS.current("fingerprint_key")
# Seals the secret state of streams, and the memory. Without it an open stream cannot be continued: keep a copy of it
# apart. What former keys sealed still opens, until `manage.py reseal` has sealed it anew.
STREAM_KEYS = MASTER_KEY.around(SECRETS.current("stream_key"), *SECRETS.former("stream_key"))
# Signs bundles, receipts and checkpoints; what former keys signed stays good. None where the master key is missing.
_signing = SECRETS.current("signing_key")
SIGNING_KEYS = SigningKeys(_signing, *SECRETS.former("signing_key")) if _signing else None
CHECKPOINTS_DIR = Path(os.environ.get("DPPORTAL_CHECKPOINTS", DATA_DIR / "checkpoints")).resolve()
# What the portal remembers outside its database, by which it recognises one that was restored from an older copy. Links
# are not followed here: on a disk that hangs that would keep every process from starting.
MEMORY_DIR = Path(os.environ.get("DPPORTAL_MEMORY", DATA_DIR / "memory")).absolute()
# Files with the passwords of connections, each named as its connection says.
CREDENTIALS_DIR = Path(os.environ.get("DPPORTAL_CREDENTIALS", DATA_DIR / "credentials")).resolve()
DEBUG = os.environ.get("DPPORTAL_DEBUG") == "1"
ALLOWED_HOSTS = os.environ.get("DPPORTAL_HOSTS", "localhost,127.0.0.1,[::1]").split(",")
CSRF_TRUSTED_ORIGINS = [o for o in os.environ.get("DPPORTAL_ORIGINS", "").split(",") if o]

INSTALLED_APPS = [
    "django.contrib.admin",
    # Before Django's own accounts, whose commands it records.
    "dpportal.accounts",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "django.contrib.staticfiles",
    "django_htmx",
    "dpportal",
    "dpportal.history",
    "dpportal.jobs",
    "axes",
    "dpportal.approvals",
    "dpportal.notices",
    "dpportal.tables.connections",
    "dpportal.datasets",
    "dpportal.budgets",
    "dpportal.value_choices",
    "dpportal.releases",
    "dpportal.streams",
    "dpportal.api",
    "dpportal.catalogue",
]

MIDDLEWARE = [
    "dpportal.serving.forwarding.DeclaredProxies",
    "dpportal.serving.request_ids.RequestIds",
    "dpportal.serving.durations.Durations",
    "dpportal.serving.compression.CompressedPages",
    "dpportal.api.problems.ProblemDetails",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "dpportal.serving.response_headers.ContentSecurityPolicy",
    "dpportal.serving.response_headers.FormToCorrect",
    "dpportal.serving.small_ids.SmallIds",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dpportal.accounts.languages.PersonLanguage",
    "dpportal.serving.chinese_spacing.ChineseSpacing",
    "dpportal.serving.response_headers.NoStore",
    "dpportal.accounts.sessions.IdleLimit",
    "dpportal.accounts.known_browsers.KnownBrowser",
    "dpportal.accounts.factors.proof.ProvedFactor",
    "dpportal.accounts.first_passwords.FirstPassword",
    "dpportal.accounts.factors.rules.SecondFactor",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "dpportal.publications.method_not_allowed.OnlySent",
    "dpportal.serving.storage_middleware.StorageUnreachable",
    "dpportal.jobs.database_busy.DatabaseBusy",
    "dpportal.catalogue.readers.counted",
]

ROOT_URLCONF = "dpportal.urls"
ASGI_APPLICATION = "dpportal.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dpportal.accounts.context_processors.news",
            ],
        },
    },
]

# SQLite: an IMMEDIATE transaction takes the write lock at its start, so concurrent reservations queue up
# instead of failing; FULL makes a committed spend survive a power cut.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;",
}
# A server that is cut off is noticed within half a minute, whoever of the two was waiting for the other. How long locks
# are waited for is each process's own: see jobs.lock_timeouts.
POSTGRESQL_OPTIONS = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
DATABASES = {"default": dj_database_url.config(default=f"sqlite:///{DATA_DIR / 'portal.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"].setdefault("OPTIONS", {}).update(SQLITE_OPTIONS)
elif DATABASES["default"]["ENGINE"].endswith("postgresql"):
    _options = DATABASES["default"].get("OPTIONS", {})
    DATABASES["default"]["OPTIONS"] = {**POSTGRESQL_OPTIONS, **_options}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
# Whoever has tried too often is turned away before a password is looked at.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "dpportal.accounts.backend.WrittenPeople",
]
# Tries are counted in the database, which all machines share; by name and address together, or for a browser that its
# person signed in with before, so that nobody can lock another person out from elsewhere.
AXES_LOCKOUT_PARAMETERS = "dpportal.accounts.locking.counted_by"
AXES_FAILURE_LIMIT = 5
AXES_HANDLER = "dpportal.accounts.locking.Handler"
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_CALLABLE = "dpportal.accounts.locking.locked_page"
AXES_CLIENT_IP_CALLABLE = "dpportal.accounts.addresses.client_network"
# The portal writes down who signed in, see accounts.sign_ins; typed names are shown to nobody.
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "answer"]
# The institution's own sign-in (OpenID Connect), where there is one.
IDENTITY_PROVIDER = IdentityProvider.of(os.environ)
# So long programs act for a person whom only the institution lets in, after it did.
PROVIDER_DAYS = positive_integer("DPPORTAL_OIDC_DAYS", 30)
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "dpportal.accounts.password_strength.LengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "dpportal.accounts.password_strength.GuessableValidator"},
]

# Where mail can be sent, people can have a forgotten password replaced by themselves.
EMAIL_URL = os.environ.get("DPPORTAL_EMAIL_URL", "")
if EMAIL_URL:
    _server = MailServer.of(EMAIL_URL)
    EMAIL_HOST, EMAIL_PORT = _server.host, _server.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _server.user, _server.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = _server.scheme == "smtp+tls", _server.scheme == "smtps"
    EMAIL_TIMEOUT = 5
    DEFAULT_FROM_EMAIL = _server.sender(os.environ.get("DPPORTAL_EMAIL_FROM", ""))
PASSWORD_RESET_TIMEOUT = 3600

LANGUAGE_CODE = "en"
# Each by its own name, for whoever reads no other.
LANGUAGES = [("en", "English"), ("zh-hans", "中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "dpportal.platform.formats"
# What a stranger chose; a person's own choice is kept with the person.
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
TIME_ZONE = os.environ.get("DPPORTAL_TIME_ZONE", "UTC")
USE_TZ = True
USE_THOUSAND_SEPARATOR = False

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
# Where the framework of the API has its viewer; to import it here would read settings that are not complete.
_located = find_spec("ninja")
if _located is None or _located.origin is None:
    raise ImproperlyConfigured("django-ninja is not installed. Run: pip install -r requirements.txt")
_ninja = Path(_located.origin).parent
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("plotly", Path(plotly.__file__).parent / "package_data"),
    ("swagger", _ninja / "static" / "ninja"),
]

# Pages name each file with the digest of what it holds.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# Two private storages, never served by URL: people's records, and what was released from them.
STORAGE_BACKEND = os.environ.get("DPPORTAL_STORAGE", "dpportal.platform.storage.PrivateStorage")
STORAGE_OPTIONS = json.loads(os.environ.get("DPPORTAL_STORAGE_OPTIONS", "{}"))
STORAGES = {
    "default": {"BACKEND": STORAGE_BACKEND, "OPTIONS": STORAGE_OPTIONS or {"location": DATA_DIR / "files"}},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# The origin of the bucket's addresses, if browsers are to send tables there by themselves.
DIRECT_UPLOADS = origin("DPPORTAL_DIRECT_UPLOADS")
SCRATCH_DIR = DATA_DIR / "scratch"
# Whatever a library spills while it works on records stays private, and the sweep clears what a crash leaves.
tempfile.tempdir = str(SCRATCH_DIR)

# Files are read by the views that take them, and streamed to disk, whatever their size.
FILE_UPLOAD_HANDLERS = ["dpportal.serving.files.NoFiles"]
FILE_UPLOAD_TEMP_DIR = SCRATCH_DIR
# Of a request that comes in, more than this is kept on disk.
FILE_UPLOAD_MAX_MEMORY_SIZE = 2**16
# Below so much free space no upload and no job begins.
MIN_FREE_BYTES = int(os.environ.get("DPPORTAL_MIN_FREE_BYTES", 2**30))
MAX_UPLOAD_BYTES = int(os.environ.get("DPPORTAL_MAX_UPLOAD_BYTES", 8 * 2**30))
# Of one curator: what is kept, uploads that wait to be read, and those of a day, since whoever guesses at tables tries
# often.
CURATOR_BYTES = int(os.environ.get("DPPORTAL_CURATOR_BYTES", 100 * 2**30))
WAITING_UPLOADS = positive_integer("DPPORTAL_WAITING_UPLOADS", 20)
# How often a day a curator may name somebody to share with whom nobody here is called.
SHARING_TRIES_PER_DAY = 20
UPLOADS_PER_DAY = positive_integer("DPPORTAL_UPLOADS_PER_DAY", 100)
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 2**20
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000

SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_ENGINE = "dpportal.accounts.session_store"
# Seconds after its sign-in at which a session ends, however much its person works.
SESSION_LONGEST = 12 * 3600
SESSION_COOKIE_AGE = 60 * positive_integer("DPPORTAL_SESSION_IDLE_MINUTES", 60)
# Whose word of who asks, and how, is believed.
PROXIES = networks("DPPORTAL_PROXIES")
# Who is told how much there is of anything, without signing in: those who watch over the portal by programs.
METRICS_NETWORKS = networks("DPPORTAL_METRICS_NETWORKS")
# Of a browser in which a person signed in before.
KNOWN_BROWSER_COOKIE_NAME = "known_browser"
MESSAGE_COOKIE_NAME = "messages"
MESSAGE_STORAGE = "dpportal.accounts.message_cookie.Messages"
if os.environ.get("DPPORTAL_HTTPS") == "1":
    if not PROXIES:
        raise ImproperlyConfigured(
            "DPPORTAL_HTTPS=1 is for a portal behind a proxy, whose word that a connection is encrypted is believed "
            "only if DPPORTAL_PROXIES names it. Set DPPORTAL_PROXIES, to 127.0.0.1 if the proxy is on this machine."
        )
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = True
    # A browser takes these names from this very host alone, encrypted, and for all its paths.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
    KNOWN_BROWSER_COOKIE_NAME, LANGUAGE_COOKIE_NAME = "__Host-known_browser", "__Host-language"
    MESSAGE_COOKIE_NAME = "__Host-messages"
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    # Load balancers, and what watches over the portal, ask each machine without encryption.
    SECURE_REDIRECT_EXEMPT = [r"^health/$", r"^metrics$"]
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    # Browsers' preload list is for the owner of the whole domain to ask for.
    SILENCED_SYSTEM_CHECKS = ["security.W021"]
# Where to report weaknesses: a mail or web address.
SECURITY_CONTACT = os.environ.get("DPPORTAL_SECURITY_CONTACT", "")

# For which acts a second person is wanted.
TWO_PEOPLE = TwoPeople.of(os.environ)

# A job's lease is renewed while its worker lives, so it can be short: a killed worker's job is taken over
# after JOB_LEASE_SECONDS. The time limits bound a worker that lives but hangs.
JOB_LEASE_SECONDS = float(os.environ.get("DPPORTAL_JOB_LEASE", 30))
JOB_ATTEMPTS = 3
# Leases are counted by the database's clock; a machine whose own differs by more than this is told of.
CLOCK_TOLERANCE_SECONDS = 5.0
SWEEP_SECONDS = float(os.environ.get("DPPORTAL_SWEEP_SECONDS", 5))

BROKER_DIR = DATA_DIR / "broker"
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "folder://localhost//")
CELERY_TASK_QUEUES = queues.declared()
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
TASK_SECONDS, TASK_KILLED_AFTER_SECONDS = 3300.0, 3600.0
# How long one upload is read; the task around it has time to spare.
CONVERSION_SECONDS = positive_integer("DPPORTAL_CONVERSION_SECONDS", 1200, most=3000)
THREADS = positive_integer(cores.VARIABLE, cores.of_machine(), most=32)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# A server of the queue that takes connections and does not answer is waited for so long, and not for ever.
QUEUE_ANSWER_SECONDS = 5.0
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {
    "visibility_timeout": 7200,
    "socket_connect_timeout": QUEUE_ANSWER_SECONDS,
    "socket_timeout": QUEUE_ANSWER_SECONDS,
}
# Whether one machine does everything.
EMBEDDED = CELERY_BROKER_URL.startswith("folder")
if EMBEDDED:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_DIR),
        "data_folder_out": str(BROKER_DIR),
        "polling_interval": 0.1,
    }

# Each process of the web server counts its requests in a file of its own.
METRICS_DIR = DATA_DIR / "metrics"
METRICS_DIR.mkdir(mode=0o700, exist_ok=True)
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(METRICS_DIR)

# Of libraries what is wrong; of the portal the beginnings and ends of jobs, too.
LOG_LEVEL = os.environ.get("DPPORTAL_LOG_LEVEL", "")
LOG_FORMAT = one_of("DPPORTAL_LOG_FORMAT", ("line", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request": {"()": "dpportal.serving.request_ids.WithRequestId"}},
    "formatters": {
        "line": {
            "()": "dpportal.platform.log_lines.LineFormatter",
            "fmt": "{asctime} {levelname} {name}: {message}{of_request}",
            "style": "{",
        },
        "json": {
            "()": "dpportal.platform.log_lines.ObjectFormatter",
            "fmt": "{asctime}{levelname}{name}{message}",
            "style": "{",
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
            "reserved_attrs": [*RESERVED_ATTRS, "of_request", "request"],
        },
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["request"]}
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL or "WARNING"},
    # Who signed in is told at every level; what axes says of the same tries is not.
    "loggers": {
        "dpportal": {"level": LOG_LEVEL or "INFO"},
        "dpportal.accounts.sign_ins": {"level": "INFO"},
        "axes": {"level": "ERROR"},
    },
}
