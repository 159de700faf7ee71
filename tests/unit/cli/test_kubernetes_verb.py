"""`qtrigger kubernetes`: objects that a cluster takes, of what the project really uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner, Result

from qtrigger.admin.keys import KEY as KEY_NAME
from qtrigger.admin.keys import Keys
from qtrigger.cli.main import cli
from qtrigger.cli.start import start
from qtrigger.errors import ProjectError
from tests.unit.manifests.keda_schema import SPECS, schema_of
from tests.unit.project.folder import CONNECTION, KEY, OUTPUT, TRIGGER, ProjectFolder

# The oldest that is still kept up, and the newest of the schemas.
VERSIONS = ("1.31", kubernetes_validate.latest_version())
IDENTITY = "https://acme.queue.core.windows.net"


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    """A project with one function, whose settings are in its file."""
    made = ProjectFolder(tmp_path / "Order Desk")
    made.function("charge")
    made.values(AzureWebJobsStorage=CONNECTION)
    return made


def kubernetes(folder: ProjectFolder, *flags: str, **environ: str) -> Result:
    variables = {"AzureWebJobsStorage": None, **environ}
    arguments = ["kubernetes", str(folder.root), "--image", "acme/orders:1", *flags]
    return CliRunner().invoke(cli, arguments, prog_name="qtrigger", env=variables)


def objects(folder: ProjectFolder, *flags: str, **environ: str) -> list[Any]:
    said = kubernetes(folder, *flags, **environ)
    assert said.exit_code == 0, said.output
    return list(yaml.safe_load_all(said.stdout))


def of_kind(found: list[Any], kind: str) -> Any:
    (one,) = (each for each in found if each["kind"] == kind)
    return one


def container(found: list[Any]) -> Any:
    """The one container, of a Deployment or of a ScaledJob."""
    for each in found:
        if each["kind"] == "Deployment":
            return each["spec"]["template"]["spec"]["containers"][0]
        if each["kind"] == "ScaledJob":
            return each["spec"]["jobTargetRef"]["template"]["spec"]["containers"][0]
    raise AssertionError(found)


def variables(found: list[Any]) -> Mapping[str, str | None]:
    """What the container's environment has by value; None for what the Secret has."""
    return {each["name"]: each.get("value") for each in container(found)["env"]}


def assert_accepted(found: list[Any]) -> None:
    """Hold each object against the schema of its kind, strictly."""
    for each in found:
        if each["kind"] in SPECS:
            jsonschema.validate(each, schema_of(each["kind"]))
        if each["kind"] == "ScaledJob":
            spec = each["spec"]["jobTargetRef"]
            assert_in_kubernetes({"apiVersion": "batch/v1", "kind": "Job", "spec": spec})
        elif each["kind"] not in SPECS:
            assert_in_kubernetes(each)


def assert_in_kubernetes(content: Mapping[str, Any]) -> None:
    """Hold an object of Kubernetes' own against its schemas."""
    for version in VERSIONS:
        kubernetes_validate.validate(dict(content), version, strict=True)


@pytest.mark.parametrize("flags", [[], ["--job"]])
@pytest.mark.parametrize(
    "auth",
    [
        ["--auth", "connection"],
        ["--auth", "workload-identity", "--account", "acme"],
        ["--auth", "workload-identity", "--account", "acme.queue.core.example"],
    ],
)
def test_a_cluster_takes_every_object(
    folder: ProjectFolder, flags: list[str], auth: list[str]
) -> None:
    folder.function("refund", {**TRIGGER, "queueName": "%REFUNDS%", "connection": "Bank"}, OUTPUT)
    found = objects(
        folder, *flags, *auth, "--namespace", "shop", REFUNDS="refunds", Bank=CONNECTION
    )

    assert_accepted(found)
    assert {each["metadata"]["namespace"] for each in found} == {"shop"}


def test_the_schemas_of_the_test_refuse_what_a_cluster_does_not_know(
    folder: ProjectFolder,
) -> None:
    scaled = of_kind(objects(folder), "ScaledObject")
    scaled["spec"]["triggers"][0]["metadata"]["queueLength"] = 24
    with pytest.raises(jsonschema.ValidationError):
        assert_accepted([scaled])

    deployment = of_kind(objects(folder), "Deployment")
    deployment["spec"]["template"]["spec"]["gracePeriod"] = 45
    with pytest.raises(kubernetes_validate.ValidationError):
        assert_accepted([deployment])


def test_a_pod_may_next_to_nothing(folder: ProjectFolder) -> None:
    pod = of_kind(objects(folder), "Deployment")["spec"]["template"]["spec"]
    (one,) = pod["containers"]

    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert one["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    assert {each["mountPath"] for each in one["volumeMounts"]} == {"/var/lib/qtrigger", "/tmp"}
    assert {each["name"] for each in pod["volumes"]} == {
        each["name"] for each in one["volumeMounts"]
    }


@pytest.mark.parametrize("flags", [[], ["--job"]])
def test_the_grace_is_shutdown_timeout_and_a_margin(
    folder: ProjectFolder, flags: list[str]
) -> None:
    folder.host(qtrigger={"shutdownTimeout": "00:02:00.5"})
    found = objects(folder, *flags)
    template = found[-1]["spec"].get("jobTargetRef", found[-2].get("spec"))["template"]

    assert template["spec"]["terminationGracePeriodSeconds"] == 121 + 15


def test_secrets_are_referred_to_and_their_values_are_nowhere(folder: ProjectFolder) -> None:
    folder.values(AzureWebJobsStorage=CONNECTION, Other=KEY, FUNCTIONS_WORKER_RUNTIME="python")
    said = kubernetes(folder)
    found = list(yaml.safe_load_all(said.stdout))

    assert KEY not in said.output
    assert of_kind(found, "Secret")["stringData"] == {
        "AzureWebJobsStorage": "<connection string of the account>",
        "QTRIGGER_HTTP_KEY": "<a long key>",
    }
    assert variables(found)["AzureWebJobsStorage"] is None
    # What only the code can know of is named, so that nobody has to find out at night.
    assert "passed on: Other;" in said.stderr


def test_settings_that_a_binding_or_host_json_names_are_needed(folder: ProjectFolder) -> None:
    folder.host(qtrigger={"onPoison": {"url": "%PAGER%"}})
    folder.function("refund", {**TRIGGER, "queueName": "%REFUNDS%"})
    folder.values(
        AzureWebJobsStorage=CONNECTION,
        REFUNDS="refunds",
        PAGER="https://pager.example/secret",
        AzureFunctionsJobHost__extensions__queues__batchSize="4",
    )

    found = objects(folder)

    assert set(of_kind(found, "Secret")["stringData"]) == {
        *("AzureWebJobsStorage", "REFUNDS", "PAGER", "QTRIGGER_HTTP_KEY"),
        "AzureFunctionsJobHost__extensions__queues__batchSize",
    }


def test_names_with_colons_are_written_as_variables_have_them(folder: ProjectFolder) -> None:
    folder.function("refund", {**TRIGGER, "connection": "Bank:Money"})
    folder.values(**{"AzureWebJobsStorage": CONNECTION, "Bank:Money": CONNECTION})

    found = objects(folder)

    assert "Bank__Money" in of_kind(found, "Secret")["stringData"]
    assert_accepted(found)


def test_each_function_that_can_run_has_a_trigger_with_its_own_length(
    folder: ProjectFolder,
) -> None:
    folder.host(
        extensions={"queues": {"batchSize": 8, "newBatchThreshold": 2}},
        qtrigger={
            "functions": {
                "refund": {"batchSize": 4, "newBatchThreshold": 1},
                "mail": {"maxConcurrent": 3},
            }
        },
    )
    folder.function("refund", {**TRIGGER, "queueName": "%REFUNDS%"})
    folder.function("mail", {**TRIGGER, "queueName": "mails"})

    triggers = of_kind(objects(folder, REFUNDS="refunds"), "ScaledObject")["spec"]["triggers"]

    assert {
        each["name"]: (each["metadata"]["queueName"], each["metadata"]["queueLength"])
        for each in triggers
    } == {"charge": ("orders", "10"), "refund": ("refunds", "5"), "mail": ("mails", "3")}
    assert {each["metadata"]["queueLengthStrategy"] for each in triggers} == {"all"}


def test_limits_of_one_replica_are_warned_of(folder: ProjectFolder) -> None:
    folder.host(qtrigger={"functions": {"charge": {"maxPerMinute": 60, "orderBy": "$.id"}}})

    said = kubernetes(folder).stderr

    assert "maxPerMinute of charge, orderBy of charge holds in each replica by itself" in said


def test_what_cannot_run_has_no_trigger_and_is_named(folder: ProjectFolder) -> None:
    folder.function("broken", {**TRIGGER, "queueName": "%NOWHERE%"})
    folder.function("off")
    folder.function("nightly", {"type": "timerTrigger", "direction": "in", "name": "t"})
    said = kubernetes(folder, **{"AzureWebJobs.off.Disabled": "true"})
    found = list(yaml.safe_load_all(said.stdout))

    triggers = of_kind(found, "ScaledObject")["spec"]["triggers"]
    assert [each["name"] for each in triggers] == ["charge"]
    assert "warning: broken has errors" in said.stderr
    assert "warning: off gets no trigger: setting AzureWebJobs.off.Disabled" in said.stderr
    assert "warning: nightly gets no trigger: a timerTrigger" in said.stderr
    # It is off in the cluster, too.
    assert variables(found)["AzureWebJobs.off.Disabled"] == "true"


def test_decorated_functions_have_triggers(tmp_path: Path) -> None:
    """What looks for function.json alone finds none of them."""
    CliRunner().invoke(cli, ["init", str(tmp_path), "--no-git"])

    found = objects(ProjectFolder(tmp_path))

    triggers = of_kind(found, "ScaledObject")["spec"]["triggers"]
    assert [(each["name"], each["metadata"]["queueName"]) for each in triggers] == [
        ("process_order", "orders")
    ]


def test_keda_has_the_same_secrets_as_the_pods_one_for_each_connection(
    folder: ProjectFolder,
) -> None:
    folder.function("refund", {**TRIGGER, "connection": "Bank"})
    found = objects(folder, Bank=CONNECTION)
    keys = {
        each["metadata"]["name"]: each["spec"]["secretTargetRef"][0]["key"]
        for each in found
        if each["kind"] == "TriggerAuthentication"
    }
    triggers = of_kind(found, "ScaledObject")["spec"]["triggers"]

    assert {each["name"]: keys[each["authenticationRef"]["name"]] for each in triggers} == {
        "charge": "AzureWebJobsStorage",
        "refund": "Bank",
    }
    assert set(keys.values()) <= set(of_kind(found, "Secret")["stringData"])


def test_with_workload_identity_only_the_hosts_own_key_is_secret(folder: ProjectFolder) -> None:
    found = objects(folder, "--auth", "workload-identity", "--account", "acme")
    pod = of_kind(found, "Deployment")["spec"]["template"]
    account = of_kind(found, "ServiceAccount")

    assert set(of_kind(found, "Secret")["stringData"]) == {"QTRIGGER_HTTP_KEY"}
    assert pod["metadata"]["labels"]["azure.workload.identity/use"] == "true"
    assert pod["spec"]["serviceAccountName"] == account["metadata"]["name"]
    assert list(account["metadata"]["annotations"]) == ["azure.workload.identity/client-id"]
    assert of_kind(found, "TriggerAuthentication")["spec"] == {
        "podIdentity": {"provider": "azure-workload"}
    }
    (trigger,) = of_kind(found, "ScaledObject")["spec"]["triggers"]
    assert (trigger["metadata"]["accountName"], trigger["metadata"]["cloud"]) == (
        "acme",
        "AzurePublicCloud",
    )
    assert variables(found)["AzureWebJobsStorage__queueServiceUri"] == IDENTITY
    assert variables(found)["AzureWebJobsStorage__credential"] == "workloadidentity"


def test_the_environment_that_identities_get_is_one_that_a_host_can_run_with(
    folder: ProjectFolder,
) -> None:
    found = objects(folder, "--auth", "workload-identity", "--account", "acme")
    # What Azure's webhook adds to each pod of the ServiceAccount.
    added = {
        "AZURE_CLIENT_ID": "client",
        "AZURE_TENANT_ID": "tenant",
        "AZURE_FEDERATED_TOKEN_FILE": "/var/run/secrets/token",
    }
    given = {name: value for name, value in variables(found).items() if value is not None}
    (folder.root / "local.settings.json").unlink()

    project = folder.load({**given, **added}, environment="Production")

    (charge,) = project.functions
    assert charge.trigger.account.endpoint == IDENTITY
    assert charge.trigger.account.authentication == "identity (workloadidentity)"


def test_a_project_of_identities_signs_in_by_them_and_says_its_account_itself(
    folder: ProjectFolder,
) -> None:
    folder.values(AzureWebJobsStorage__queueServiceUri="https://acme.queue.core.usgovcloudapi.net")

    (trigger,) = of_kind(objects(folder), "ScaledObject")["spec"]["triggers"]

    assert trigger["metadata"]["cloud"] == "AzureUSGovernmentCloud"


def test_a_cloud_that_keda_does_not_know_is_given_by_its_suffix(folder: ProjectFolder) -> None:
    flags = ("--auth", "workload-identity", "--account", "acme.queue.core.example")

    (trigger,) = of_kind(objects(folder, *flags), "ScaledObject")["spec"]["triggers"]

    assert trigger["metadata"]["cloud"] == "Private"
    assert trigger["metadata"]["endpointSuffix"] == "queue.core.example"


def test_an_account_may_be_said_for_one_connection(folder: ProjectFolder) -> None:
    folder.function("refund", {**TRIGGER, "connection": "Bank"})
    flags = ("--auth", "workload-identity", "--account", "acme", "--account", "Bank=money")

    found = objects(folder, *flags, Bank=CONNECTION)

    assert variables(found)["Bank__queueServiceUri"] == "https://money.queue.core.windows.net"
    assert variables(found)["AzureWebJobsStorage__queueServiceUri"] == IDENTITY


def test_an_account_that_is_named_is_signed_in_to_by_an_identity(folder: ProjectFolder) -> None:
    found = objects(folder, "--account", "acme")

    assert variables(found)["AzureWebJobsStorage__queueServiceUri"] == IDENTITY


def test_a_connection_of_an_account_is_named_as_in_the_projects_files_or_by_its_setting(
    folder: ProjectFolder,
) -> None:
    folder.function("refund", {**TRIGGER, "connection": "Bank:Money"})
    folder.values(**{"AzureWebJobsStorage": CONNECTION, "Bank:Money": CONNECTION})

    for name in ("Bank:Money", "bank__money"):
        found = objects(folder, "--account", "acme", "--account", f"{name}=money")
        address = variables(found)["Bank__Money__queueServiceUri"]
        assert address == "https://money.queue.core.windows.net"


def test_an_account_of_no_connection_is_said_with_the_connections_that_there_are(
    folder: ProjectFolder,
) -> None:
    said = kubernetes(folder, "--account", "acme", "--account", "Bnak=money")

    assert (said.exit_code, said.stdout) == (1, "")  # the verb's own exit code is main's
    assert "no function uses the connection Bnak; there is AzureWebJobsStorage" in str(
        said.exception
    )


def test_an_account_that_nobody_names_is_asked_for(folder: ProjectFolder) -> None:
    said = kubernetes(folder, "--auth", "workload-identity")

    assert said.exit_code != 0
    assert "Say --account NAME" in str(said.exception)


def test_jobs_end_when_the_queues_are_empty_and_count_what_nobody_works_on(
    folder: ProjectFolder,
) -> None:
    found = objects(folder, "--job", "--max-replicas", "50")
    spec = of_kind(found, "ScaledJob")["spec"]

    assert container(found)["args"] == ["start", "/app", "--exit-when-idle", "30"]
    assert spec["jobTargetRef"]["template"]["spec"]["restartPolicy"] == "Never"
    assert spec["scalingStrategy"] == {"strategy": "accurate"}
    assert {each["metadata"]["queueLengthStrategy"] for each in spec["triggers"]} == {"visibleonly"}
    assert spec["maxReplicaCount"] == 50
    assert not [each for each in found if each["kind"] == "Deployment"]


def test_a_job_that_signs_in_by_identity_has_no_secret_at_all(folder: ProjectFolder) -> None:
    found = objects(folder, "--job", "--auth", "workload-identity", "--account", "acme")

    assert not [each for each in found if each["kind"] == "Secret"]
    assert "livenessProbe" not in container(found)


def test_probes_ask_what_is_open_at_the_port_that_the_host_serves(folder: ProjectFolder) -> None:
    one = container(objects(folder))
    asked = {name: each["httpGet"] for name, each in one.items() if name.endswith("Probe")}

    assert asked == {
        "startupProbe": {"path": "/health/startup", "port": "http"},
        "livenessProbe": {"path": "/health/live", "port": "http"},
        "readinessProbe": {"path": "/health/ready", "port": "http"},
    }
    assert one["ports"] == [{"name": "http", "containerPort": 8080}]
    assert one["args"] == ["start", "/app", "--http", "0.0.0.0:8080"]


@pytest.mark.parametrize("flags", [[], ["--job"]])
def test_the_host_takes_its_arguments(folder: ProjectFolder, flags: list[str]) -> None:
    verb, *arguments = container(objects(folder, *flags))["args"]

    assert verb == "start"
    start.make_context("start", arguments)


def test_a_key_that_nobody_has_filled_in_opens_nothing(folder: ProjectFolder) -> None:
    placeholder = of_kind(objects(folder), "Secret")["stringData"][KEY_NAME]

    with pytest.raises(ProjectError, match="fewer than 16 characters"):
        Keys.of(placeholder, "")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], "Those in work are hidden, and with visibleonly a replica would be taken away"),
        (["--job"], "all would start a Job for messages that another one has in work"),
    ],
)
def test_the_strategy_and_what_is_counted_are_explained(
    folder: ProjectFolder, flags: list[str], words: str
) -> None:
    remarks = [each for each in kubernetes(folder, *flags).stdout.splitlines() if each[:1] == "#"]
    text = " ".join(each.removeprefix("# ") for each in remarks)

    assert words in text
    assert "queueLength is how many messages one replica works on at once" in text
    assert "charge 16 + 8" in text


def test_replicas_and_times_are_what_was_asked_for(folder: ProjectFolder) -> None:
    flags = ("--min-replicas", "2", "--max-replicas", "7", "--polling-interval", "5")
    spec = of_kind(objects(folder, *flags, "--cooldown-period", "60"), "ScaledObject")["spec"]

    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2, 7)
    assert (spec["pollingInterval"], spec["cooldownPeriod"]) == (5, 60)
    assert spec["fallback"]["replicas"] == 2


def test_the_name_is_the_folders_as_kubernetes_takes_it(folder: ProjectFolder) -> None:
    assert of_kind(objects(folder), "Deployment")["metadata"]["name"] == "order-desk"
    named = objects(folder, "--name", "orders")
    assert {each["metadata"]["name"] for each in named} == {"orders", "orders-queues"}


@pytest.mark.parametrize(
    "flags",
    [
        ["--name", "Orders"],
        ["--name", "-x"],
        ["--name", "x" * 46],
        ["--image", "a b"],
        ["--min-replicas", "3", "--max-replicas", "2"],
        ["--max-replicas", "0"],
        ["--job", "--cooldown-period", "5"],
        ["--auth", "connection", "--account", "acme"],
        ["--auth", "workload-identity", "--account", "No Account"],
        ["--account", "acme.blob.core.windows.net"],
        ["--account", "acme", "--account", "other"],
        ["--namespace", "x" * 64],
    ],
)
def test_what_no_cluster_takes_is_wrong_usage(folder: ProjectFolder, flags: list[str]) -> None:
    assert kubernetes(folder, *flags).exit_code == 2


def test_an_image_must_be_said(folder: ProjectFolder) -> None:
    assert CliRunner().invoke(cli, ["kubernetes", str(folder.root)]).exit_code == 2


def test_out_writes_a_file_for_each_kind_and_never_over_a_secret(
    folder: ProjectFolder, tmp_path: Path
) -> None:
    out = tmp_path / "deploy"
    first = kubernetes(folder, "--out", str(out))
    names = {each.name for each in out.iterdir()}
    assert names == {
        *("secret.yaml", "triggerauthentication.yaml", "deployment.yaml", "scaledobject.yaml")
    }
    assert len(first.stdout.splitlines()) == 4

    for name in names:
        (out / name).write_text("mine")
    left = kubernetes(folder, "--out", str(out))
    assert {(out / name).read_text() for name in names} == {"mine"}
    assert left.stderr.count("left alone") == 2

    kubernetes(folder, "--out", str(out), "--force")
    assert {name for name in names if (out / name).read_text() == "mine"} == {"secret.yaml"}


def test_a_project_without_anything_to_run_says_why(folder: ProjectFolder) -> None:
    folder.values(AzureWebJobsStorage="AccountName=acme")

    said = kubernetes(folder)

    assert (said.exit_code, said.stdout) == (1, "")  # the verb's own exit code is main's
    assert "is no usable connection string" in said.stderr


@pytest.mark.parametrize("model", ["v1", "v2"])
def test_a_pipeline_needs_no_settings_for_connections(tmp_path: Path, model: str) -> None:
    """It has what is in the repository, which has no local.settings.json."""
    CliRunner().invoke(cli, ["init", str(tmp_path), "--no-git", "--model", model])
    made = ["new", "refund", "--project", str(tmp_path), "--queue", "refunds"]
    CliRunner().invoke(cli, [*made, "--connection", "Bank"])
    (tmp_path / "local.settings.json").unlink()
    folder = ProjectFolder(tmp_path)

    said = kubernetes(folder)

    assert said.exit_code == 0, said.output
    found = list(yaml.safe_load_all(said.stdout))
    assert {"AzureWebJobsStorage", "Bank"} <= set(of_kind(found, "Secret")["stringData"])
    assert len(of_kind(found, "ScaledObject")["spec"]["triggers"]) == 2
    assert "no setting here for the connection AzureWebJobsStorage, Bank; " in said.stderr
    assert "UseDevelopmentStorage" not in said.output


def test_a_secret_in_a_connections_place_is_not_shown(tmp_path: Path) -> None:
    folder = ProjectFolder(tmp_path)
    folder.function("charge", {**TRIGGER, "connection": CONNECTION})
    folder.function("refund", {**TRIGGER, "connection": KEY})

    said = kubernetes(folder)

    assert (said.exit_code, KEY in said.output) == (1, False)


def test_a_connection_without_a_name_is_the_default_one_in_a_pipeline(tmp_path: Path) -> None:
    folder = ProjectFolder(tmp_path)
    folder.function("charge")

    assert "AzureWebJobsStorage" in of_kind(objects(folder), "Secret")["stringData"]


def test_a_pipeline_finds_connections_that_other_modules_name(tmp_path: Path) -> None:
    """Blueprints are how a larger project of decorators is cut."""
    folder = ProjectFolder(tmp_path)
    folder.write(
        "function_app.py",
        "import azure.functions as func\nfrom shop.bank import bp\n"
        "app = func.FunctionApp()\napp.register_functions(bp)\n",
    )
    folder.write("shop/__init__.py", "")
    folder.write(
        "shop/bank.py",
        "import azure.functions as func\nbp = func.Blueprint()\n"
        '@bp.queue_trigger(arg_name="m", queue_name="orders", connection="Bank")\n'
        "def charge(m): ...\n",
    )
    # What is installed beside it is none of it.
    folder.write(".venv/lib/other.py", (tmp_path / "shop/bank.py").read_text().replace("Ba", "Ta"))

    said = kubernetes(folder)

    assert said.exit_code == 0, said.output
    assert "for the connection Bank; " in said.stderr


def test_the_default_connection_has_one_setting_whatever_it_is_called(tmp_path: Path) -> None:
    folder = ProjectFolder(tmp_path)
    folder.function("charge", {**TRIGGER, "connection": "Storage"})
    folder.function("refund", {**TRIGGER, "connection": ""})

    said = kubernetes(folder)

    secret = of_kind(list(yaml.safe_load_all(said.stdout)), "Secret")
    assert set(secret["stringData"]) == {"AzureWebJobsStorage", KEY_NAME}
    assert "for the connection AzureWebJobsStorage; " in said.stderr


def test_no_variable_is_given_twice(folder: ProjectFolder) -> None:
    """What the pod has by value comes from no Secret, even where a binding names it."""
    folder.function("refund", {**TRIGGER, "queueName": "%AZURE_FUNCTIONS_ENVIRONMENT%-refunds"})

    found = objects(folder, AZURE_FUNCTIONS_ENVIRONMENT="Staging")

    triggers = of_kind(found, "ScaledObject")["spec"]["triggers"]
    assert triggers[1]["metadata"]["queueName"] == "production-refunds"
    names = [each["name"] for each in container(found)["env"]]
    assert sorted(names) == sorted(set(names))
    assert variables(found)["AZURE_FUNCTIONS_ENVIRONMENT"] == "Production"
    assert "AZURE_FUNCTIONS_ENVIRONMENT" not in of_kind(found, "Secret")["stringData"]


def test_a_namespace_may_be_as_long_as_a_cluster_takes_it(folder: ProjectFolder) -> None:
    name = "x" * 63

    assert of_kind(objects(folder, "--namespace", name), "Secret")["metadata"]["namespace"] == name


def test_names_of_services_become_no_settings(folder: ProjectFolder) -> None:
    pod = of_kind(objects(folder), "Deployment")["spec"]["template"]["spec"]

    assert pod["enableServiceLinks"] is False


def test_the_json_of_a_stream_is_what_was_meant(folder: ProjectFolder) -> None:
    """A namespace or an image that YAML could read as something else is a text all the same."""
    found = objects(folder, "--name", "123", "--namespace", "on")

    assert json.loads(json.dumps(found)) == found
    assert {each["metadata"]["namespace"] for each in found} == {"on"}
    assert of_kind(found, "Deployment")["metadata"]["name"] == "123"
