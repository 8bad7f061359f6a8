"""The units, the image and the compose file start the same processes as the README, nowhere open to strangers."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from dpportal.serving import gunicorn_conf

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "dpportal" / "serving" / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
SETTINGS = (ROOT / "dpportal" / "settings.py").read_text()
INSTRUCTIONS = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "VOLUME", "EXPOSE", "CMD"}


def commands_of_readme() -> dict[str, list[str]]:
    """What the README has an operator start on several machines, by what they do."""
    text = (ROOT / "README.md").read_text()
    block = text.split("python manage.py migrate &&", 1)[1].split("```", 1)[0]
    lines = [shlex.split(line, comments=True) for line in block.splitlines()[1:]]
    found = {" ".join(line): line for line in lines if line}
    return {
        "web": next(line for name, line in found.items() if name.startswith("gunicorn")),
        "worker": next(line for name, line in found.items() if "-Q celery" in name),
        "conversions": next(line for name, line in found.items() if "-Q conversions" in name),
        "checks": next(line for name, line in found.items() if "-Q checks" in name),
        "sweep": ["python", "manage.py", "sweep"],
    }


def unit(path: Path) -> dict[str, dict[str, str]]:
    """A unit's sections; of a name that stands several times, the last value."""
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(path.read_text())
    return {name: dict(parser[name]) for name in parser.sections()}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return loaded


def test_gunicorn_is_not_open_to_the_network() -> None:
    web = commands_of_readme()["web"]
    assert web[web.index("--bind") + 1] == "127.0.0.1:8000"


@pytest.mark.parametrize("name", ["web", "worker", "conversions", "checks", "sweep"])
def test_a_unit_starts_what_the_readme_says_and_keeps_it_running(name: str) -> None:
    service = unit(DEPLOY / "systemd" / f"dpportal-{name}.service")["Service"]
    folder = "/opt/dpportal/.venv/bin/"
    assert (
        shlex.split(service["execstart"].removeprefix(folder).replace("%%", "%"))
        == commands_of_readme()[name]
    )
    assert (service["restart"], service["user"], service["nonewprivileges"]) == ("always", "dpportal", "yes")


def test_the_target_wants_every_unit() -> None:
    wanted = unit(DEPLOY / "systemd" / "dpportal.target")["Unit"]["wants"].split()
    assert set(wanted) == {path.name for path in UNITS if path.suffix == ".service"}


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_every_unit_has_its_sections(path: Path) -> None:
    sections = {"Unit", "Install"} | ({"Service"} if path.suffix == ".service" else set())
    assert unit(path).keys() == sections


def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    """With commands that are there, since it looks for them."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    for path in UNITS:
        text = re.sub(r"/opt/dpportal/\.venv/bin/\S+", "/bin/true", path.read_text())
        (tmp_path / path.name).write_text(text.replace("User=dpportal", "User=root"))
    units = [str(tmp_path / path.name) for path in UNITS]
    done = subprocess.run([program, "verify", *units], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")


def test_compose_starts_what_the_readme_says_and_publishes_to_this_machine_alone(compose) -> None:
    for name, command in commands_of_readme().items():
        service = compose["services"][name]
        started = [part.replace("0.0.0.0", "127.0.0.1") for part in service["command"]]
        assert started == command
        assert service["restart"] == "always" and service["image"] == "dpportal"
    ports = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert ports == ["127.0.0.1:8000:8000"]


def test_compose_tells_the_keys_to_the_portal_alone(compose) -> None:
    """What is sealed in the database stays so for whoever takes the database over."""
    told = {name for name, service in compose["services"].items() if service.get("env_file") == "portal.env"}
    assert told == {"setup", "web", "worker", "conversions", "checks", "sweep"}


def test_no_file_of_secrets_gets_into_an_image_or_the_repository(compose) -> None:
    """They lie beside the compose file, in a folder that the image has."""
    files = {service["env_file"] for service in compose["services"].values() if "env_file" in service}
    assert files and all(name.endswith(".env") for name in files)
    for ignored, pattern in (
        (DEPLOY / "Containerfile.dockerignore", "**/*.env"),
        (ROOT / ".gitignore", "*.env"),
    ):
        assert pattern in ignored.read_text().splitlines()


def test_compose_declares_the_proxy_that_it_is_behind(compose) -> None:
    [network] = compose["networks"]["portal"]["ipam"]["config"]
    proxy = compose["services"]["web"]["environment"]["DPPORTAL_PROXIES"]
    assert proxy == network["gateway"] and ip_address(proxy) in ip_network(network["subnet"])


def test_compose_names_variables_that_the_portal_reads(compose) -> None:
    for name in compose["services"]["web"]["environment"]:
        assert name in SETTINGS, name
    used = {volume.partition(":")[0] for s in compose["services"].values() for volume in s.get("volumes", ())}
    assert used == set(compose["volumes"])


def test_the_image_is_built_from_what_is_there() -> None:
    text = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text())
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    assert {name for name, _rest in lines} == INSTRUCTIONS
    copied = [source for name, rest in lines if name == "COPY" for source in rest.split()[:-1]]
    assert all((ROOT / source).exists() for source in copied)
    assert {"manage.py", "mechanisms", "dpportal", "templates", "static"} <= set(copied)
    assert dict(lines)["USER"] == "dpportal"


def locked() -> dict[str, tuple[Version, int]]:
    """The version of each package of the lock file, and how many digests its files have."""
    text = (DEPLOY / "requirements-locked.txt").read_text().replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            pinned, *digests = line.split(" --hash=sha256:")
            wanted = Requirement(pinned)
            [exactly] = wanted.specifier
            assert exactly.operator == "=="
            assert all(re.fullmatch(r"[0-9a-f]{64} *", digest) for digest in digests)
            found[canonicalize_name(wanted.name)] = (Version(exactly.version), len(digests))
    return found


def test_the_lock_file_has_every_requirement_in_a_version_that_it_allows_with_digests() -> None:
    pins = locked()
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        wanted = Requirement(line)
        version, _digests = pins[canonicalize_name(wanted.name)]
        assert version in wanted.specifier, line
    assert all(digests for _version, digests in pins.values())


def test_a_web_process_that_stands_still_is_ended_soon() -> None:
    """It may hold SQLite's one lock, and nothing else in the portal could be written."""
    assert 0 < gunicorn_conf.timeout <= 30


@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="this machine keeps no files in memory")
def test_a_web_process_lives_on_when_the_data_disk_turns_read_only() -> None:
    """Its signs of life lay there: the process ended, and the web server with it, since no other could be started."""
    assert gunicorn_conf.worker_tmp_dir == "/dev/shm"
