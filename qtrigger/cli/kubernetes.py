"""`qtrigger kubernetes`: what runs and scales the project in a cluster, as YAML."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from qtrigger.cli import wiring
from qtrigger.cli.cluster_values import LONGEST_NAME, AccountPlace, Image, Name, Namespace
from qtrigger.cli.docker import grace_of
from qtrigger.errors import ExitCode

if TYPE_CHECKING:
    from qtrigger.manifests.documents import Document
    from qtrigger.manifests.plan import Plan
    from qtrigger.project.model import Project

DEVELOPMENT: Final = "Development"
SECRET_FILE: Final = "secret.yaml"  # noqa: S105  # a file's name

EPILOG = """\b
Examples:
  qtrigger kubernetes --image registry.example/orders:1
  qtrigger kubernetes --image orders:1 --out deploy --auth workload-identity --account acme
  qtrigger kubernetes --image orders:1 --job --max-replicas 50 > orders.yaml

Exit codes: 0 done, 2 wrong usage, 3 nothing in the project can run, or a file cannot be written.
"""


@click.command(epilog=EPILOG, short_help="Print what runs and scales the project in Kubernetes.")
@click.argument("project", required=False, type=click.Path())
@click.option(
    "--image", type=Image(), required=True, metavar="IMAGE", help="The image of the project."
)
@click.option(
    "--name", type=Name(), metavar="NAME", help="What the objects are called (default: the folder)."
)
@click.option(
    "--namespace", type=Namespace(), metavar="NAME", help="Their namespace (default: none)."
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write a file for each kind there, and print nothing.",
)
@click.option("--force", is_flag=True, help=f"Replace files that are there, but {SECRET_FILE}.")
@click.option(
    "--auth",
    type=click.Choice(["connection", "workload-identity"]),
    help="How pods and KEDA sign in to the queues (default: workload-identity where all "
    "connections of the project are identities or --account is given, else connection).",
)
@click.option(
    "--account",
    "accounts",
    type=AccountPlace(),
    multiple=True,
    metavar="[CONNECTION=]ACCOUNT",
    help="For workload-identity: the storage account, of one connection or of all.",
)
@click.option(
    "--job", is_flag=True, help="Start Jobs that end when the queues are empty (a ScaledJob)."
)
@click.option(
    "--min-replicas", type=click.IntRange(0), default=0, help="How many there are always."
)
@click.option(
    "--max-replicas", type=click.IntRange(1), default=10, help="How many there are at most."
)
@click.option(
    "--polling-interval",
    type=click.IntRange(1),
    default=15,
    metavar="SECONDS",
    help="How often KEDA looks at the queues.",
)
@click.option(
    "--cooldown-period",
    type=click.IntRange(0),
    metavar="SECONDS",
    help="How long queues are empty before the last replica goes (default: 300).",
)
def kubernetes(project: str | None, out: str | None, force: bool, **flags: Any) -> int:
    """Print a Deployment of PROJECT and what has KEDA scale it (default: the nearest folder).

    Nothing is applied, and no cluster is asked. Secrets are texts to be replaced.
    """
    from qtrigger.manifests.documents import files, stream

    plan = _plan(wiring.find_root(project), flags)
    documents = _documents(plan)
    if out is None:
        click.echo(stream(documents), nl=False)
    else:
        _write(Path(out).absolute(), files(documents), force=force)
    return ExitCode.OK


def _plan(root: Path, flags: dict[str, Any]) -> Plan:
    """What is to be made; what a person should know of it is told. Raises ProjectError."""
    from qtrigger.cli.projects import load_alone
    from qtrigger.cli.stand_ins import stand_ins
    from qtrigger.manifests.plan import Plan, SignsIn
    from qtrigger.manifests.planning import extract

    _check(flags)
    # As here, where local settings say which connections and queues there are.
    imagined = stand_ins(root)
    project = load_alone(root, {**os.environ, **imagined, **_as_there()}, DEVELOPMENT, tells=False)
    _check_runs(project)
    wanted = SignsIn(flags["auth"]) if flags["auth"] else None
    if flags["accounts"]:
        wanted = SignsIn.WORKLOAD_IDENTITY
    found = extract(project, wanted, dict(flags["accounts"]))
    for each in [*_imagined(imagined), *found.remarks]:
        wiring.note(each)
    cooldown = flags["cooldown_period"]
    return Plan(
        name=flags["name"] or _name_of(root),
        namespace=flags["namespace"] or "",
        image=flags["image"],
        signs_in=found.signs_in,
        watched=found.watched,
        secrets={**found.secrets, **_keys(once=flags["job"])},
        plain=found.plain,
        once=flags["job"],
        min_replicas=flags["min_replicas"],
        max_replicas=flags["max_replicas"],
        polling_interval_s=flags["polling_interval"],
        cooldown_s=300 if cooldown is None else cooldown,
        grace_s=grace_of(project),
    )


def _as_there() -> dict[str, str]:
    """What a pod has whatever is set here, and a queue's name may be made of."""
    from qtrigger.manifests.plan import GIVEN

    name = "AZURE_FUNCTIONS_ENVIRONMENT"
    return {name: GIVEN[name]}


def _imagined(names: Iterable[str]) -> Iterator[str]:
    if listed := ", ".join(sorted(names)):
        yield f"note: no setting here for the connection {listed}; the cluster is taken to have it"


def _keys(*, once: bool) -> dict[str, str]:
    """The key that a host wants which can be asked over HTTP; shorter ones than its are refused."""
    from qtrigger.admin.keys import KEY

    return {} if once else {KEY: "<a long key>"}


def _check(flags: dict[str, Any]) -> None:
    if flags["min_replicas"] > flags["max_replicas"]:
        raise click.UsageError("--min-replicas is more than --max-replicas")
    if flags["job"] and flags["cooldown_period"] is not None:
        raise click.UsageError("--cooldown-period says nothing with --job: a Job ends by itself")
    if flags["accounts"] and flags["auth"] == "connection":
        raise click.UsageError(
            "--account goes with --auth workload-identity; a connection string "
            "says its account itself"
        )
    named = [connection.casefold() for connection, _ in flags["accounts"]]
    if len(set(named)) < len(named):
        raise click.UsageError("--account names two accounts for the same connections")


def _check_runs(project: Project) -> None:
    """Raise ProjectError where nothing can run, after saying why."""
    from qtrigger.errors import ProjectError

    try:
        wiring.check_runnable(project)
    except ProjectError:
        for problem in project.problems:
            wiring.note(str(problem))
        raise


def _documents(plan: Plan) -> list[Document]:
    from qtrigger.manifests import keda, pods

    runs = [keda.scaled_job(plan)] if plan.once else [pods.deployment(plan)]
    scales = [] if plan.once else [keda.scaled_object(plan)]
    return [
        *pods.secret(plan),
        *pods.service_account(plan),
        *keda.authentications(plan),
        *runs,
        *scales,
    ]


def _write(folder: Path, texts: dict[str, str], *, force: bool) -> None:
    """Write the files; a Secret that is there may be filled, and is never replaced."""
    from qtrigger.cli.written import write_each

    secret = {name: text for name, text in texts.items() if name == SECRET_FILE}
    others = {name: text for name, text in texts.items() if name != SECRET_FILE}
    kept = write_each(folder, secret)
    left = write_each(folder, others, force=force)
    if kept:
        wiring.note(f"left alone: {kept[0]}, which may hold values; delete it to have it anew")
    if left:
        wiring.note(f"left alone: {', '.join(left)} (--force replaces what is there)")


def _name_of(root: Path) -> str:
    """The folder's name as Kubernetes takes it."""
    text = re.sub(r"[^a-z0-9]+", "-", root.name.casefold()).strip("-")[:LONGEST_NAME]
    return text.strip("-") or "functions"
