"""The texts that make a container's image of a project: Dockerfile and .dockerignore.

Owns what is in the image, who runs it and where it may write. Builds nothing and reads no file;
what the project has is passed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

# Who runs in the image: a number, so that a cluster can see that it is not root.
USER: Final = 10001
STATE: Final = "/var/lib/qtrigger"
APP: Final = "/app"
# Where the project may have wheels that no index has.
WHEELS: Final = "wheels"

# Secret wherever they are: settings, a manifest's filled Secret, a history that may hold either.
_SECRET: Final = ("local.settings.json", "secret.yaml", ".git")
# What belongs to one machine.
_OF_MACHINE: Final = (".venv", ".azurite", ".qtrigger")
_IGNORED: Final = (*(f"**/{each}" for each in _SECRET), "**/__pycache__", *_OF_MACHINE)

_HEAD: Final = """\
# Made by `qtrigger docker`, and yours to change. To build and run it:
#   docker build --tag NAME:TAG .
#   docker run --read-only --tmpfs /tmp --env AzureWebJobsStorage NAME:TAG
# A stop lets running functions finish: docker stop --time {grace} (docker alone waits 10 s).
"""
_BUILD: Final = """\
FROM python:{python}-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

# qtrigger has an environment of its own: what the project requires cannot break it.
ARG QTRIGGER="{package}"
RUN python -m venv /opt/qtrigger
{install}
"""
_FROM_INDEX: Final = 'RUN /opt/qtrigger/bin/pip install "$QTRIGGER"'
_FROM_WHEELS: Final = f"""\
COPY {WHEELS} /{WHEELS}
RUN /opt/qtrigger/bin/pip install --find-links /{WHEELS} "$QTRIGGER"\
"""
_REQUIREMENTS: Final = """\
# What the project requires is a layer of its own: a change of the code does not install it anew.
RUN python -m venv /opt/project
{files}
RUN /opt/project/bin/pip install{links} --requirement /requirements/requirements.txt
"""
_CODE: Final = f"""\
# The code, compiled: the folder is read-only when it runs. A file that does not compile is said
# here, and stops its own function alone when it runs.
COPY . {APP}
RUN cd {APP} && rm -rf {" ".join([*_OF_MACHINE, WHEELS])} \\
    && find . \\( {" -o ".join(f"-name {each}" for each in _SECRET)} \\) \\
        -prune -exec rm -rf {{}} + \\
    && chmod -R a+rX . \\
    && (python -m compileall -q --invalidation-mode checked-hash {APP} || true)
"""
_FINAL: Final = f"""\
FROM python:{{python}}-slim
RUN groupadd --gid {USER} qtrigger \\
    && useradd --uid {USER} --gid {USER} --no-create-home --home-dir {STATE} \\
        --shell /usr/sbin/nologin qtrigger \\
    && install --directory --owner {USER} --group {USER} --mode 0700 {STATE}
{{copies}}
ENV PATH="/opt/qtrigger/bin:$PATH" \\
    AZURE_FUNCTIONS_ENVIRONMENT=Production \\
    PYTHONUNBUFFERED=1 \\
    PYTHONDONTWRITEBYTECODE=1 \\
    QTRIGGER_STATE={STATE}{{interpreter}}
WORKDIR {APP}
# The one place that is written to; it may begin empty.
VOLUME ["{STATE}"]
USER {USER}:{USER}
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["qtrigger", "status", "--check"]
ENTRYPOINT ["qtrigger"]
CMD ["start", "{APP}"]
"""
_INTERPRETER: Final = (
    " \\\n    languageWorkers__python__defaultExecutablePath=/opt/project/bin/python"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageOptions:
    """What the image is made of.

    `python` is a version such as `3.12`, `package` what pip is asked for to have qtrigger.
    `requirements` are the files that requirements.txt consists of, itself first, () when there is
    none; `wheels` says that the project has a folder of them. `grace_s` is how long a stop takes
    at most.
    """

    python: str
    package: str
    requirements: Sequence[str]
    wheels: bool
    grace_s: int


def dockerfile(options: ImageOptions) -> str:
    """The Dockerfile: a stage that installs and compiles, and one that holds what runs."""
    return "\n".join([_HEAD.format(grace=options.grace_s), *_stages(options)])


def dockerignore(
    funcignore: str, environments: Iterable[str] = (), needed: Iterable[str] = ()
) -> str:
    """The .dockerignore: what .funcignore leaves out, and what no image may hold.

    `environments` are folders of the project that are virtual environments, `needed` the paths
    that the Dockerfile copies by name and .funcignore may leave out. What may not be in the image
    comes last, so that no `!` of .funcignore brings it back.
    """
    own = dict.fromkeys([*_IGNORED, *environments, "Dockerfile", ".dockerignore"])
    rewritten = [_from_the_top(line) for line in funcignore.splitlines()]
    taken = [each for each in rewritten if each]
    head = ["# As .funcignore has it."] if taken else []
    back = [f"!{each}" for each in needed] if taken else []
    kept = ["# What the Dockerfile copies by name.", *back] if back else []
    secrets = ["# Secrets, and what belongs to this machine.", *own]
    return "\n".join([*head, *taken, *kept, *secrets, ""])


def _stages(options: ImageOptions) -> Iterator[str]:
    install = _FROM_WHEELS if options.wheels else _FROM_INDEX
    yield _BUILD.format(python=options.python, package=options.package, install=install)
    copies = ["/opt/qtrigger", APP]
    if options.requirements:
        links = f" --find-links /{WHEELS}" if options.wheels else ""
        yield _REQUIREMENTS.format(files=_copied(options.requirements), links=links)
        copies.insert(1, "/opt/project")
    yield _CODE
    yield _FINAL.format(
        python=options.python,
        copies="\n".join(f"COPY --from=build {each} {each}" for each in copies),
        interpreter=_INTERPRETER if options.requirements else "",
    )


def _copied(files: Sequence[str]) -> str:
    """Each file at its own place, so that what includes another one finds it."""
    return "\n".join(f"COPY {each} /requirements/{each}" for each in files)


def _from_the_top(line: str) -> str:
    """A line of .funcignore in the words of .dockerignore, "" for one that says nothing.

    The first matches a name in every folder unless the line has a slash within; the second matches
    paths from the top alone.
    """
    line = line.strip()
    if not line or line.startswith("#"):
        return ""
    sign, pattern = ("!", line[1:]) if line.startswith("!") else ("", line)
    pattern = pattern.removeprefix("\\").rstrip("/")
    if not pattern:
        return ""
    if "/" in pattern:
        return sign + pattern.removeprefix("/")
    return f"{sign}**/{pattern}"
