"""Connections: the order of looking, and every key of a section."""

from __future__ import annotations

import pytest

from qtrigger.project.model import Project
from qtrigger.queues.account import Account, Identity, Sas, SharedKey
from tests.conformance.said import told
from tests.unit.project.folder import CONNECTION, KEY, TRIGGER, ProjectFolder, errors

ADDRESS = "https://acme.queue.core.windows.net"


def string(account: str) -> str:
    return CONNECTION.replace("acme", account)


def load(folder: ProjectFolder, environ: dict[str, str], connection: str | None = "Q") -> Project:
    folder.function("resize", TRIGGER | ({} if connection is None else {"connection": connection}))
    return folder.load(environ)


def account(
    folder: ProjectFolder, environ: dict[str, str], connection: str | None = "Q"
) -> Account:
    project = load(folder, environ, connection)
    assert errors(project) == []
    return project.functions[0].trigger.account


def identity(folder: ProjectFolder, **keys: str) -> Identity:
    environ = {f"Q__{key}": value for key, value in {"queueServiceUri": ADDRESS, **keys}.items()}
    found = account(folder, environ).credential
    assert isinstance(found, Identity)
    return found


# --- the order of looking -------------------------------------------------------------------------

PLACES = ("ConnectionStrings:AzureWebJobsQ", "AzureWebJobsQ", "ConnectionStrings:Q", "Q")


@pytest.mark.parametrize("first", range(4))
def test_the_first_of_four_places_that_exists_counts(folder: ProjectFolder, first: int) -> None:
    environ = {name: string(f"place{n}") for n, name in enumerate(PLACES) if n >= first}

    assert account(folder, environ).name == f"place{first}"


@pytest.mark.parametrize("connection", [None, "", "Storage", "AzureWebJobsStorage", "%WHICH%"])
def test_without_a_name_the_default_storage_is_meant(
    folder: ProjectFolder, connection: str | None
) -> None:
    environ = {"AzureWebJobsStorage": CONNECTION, "WHICH": "Storage"}

    assert account(folder, environ, connection).name == "acme"


def test_a_value_of_its_own_comes_before_the_keys_below_it(folder: ProjectFolder) -> None:
    environ = {"Q": string("own"), "Q__accountName": "child"}

    assert account(folder, environ).name == "own"


def test_a_section_of_a_place_before_comes_before_a_string_after_it(folder: ProjectFolder) -> None:
    environ = {"AzureWebJobsQ__accountName": "section", "Q": string("later")}

    assert account(folder, environ).name == "section"


def test_a_name_in_other_letters_is_found(folder: ProjectFolder) -> None:
    assert account(folder, {"AZUREWEBJOBSq": CONNECTION}).name == "acme"


# --- the keys of a section ------------------------------------------------------------------------


def test_the_account_name_makes_the_address_and_wins_over_addresses(folder: ProjectFolder) -> None:
    environ = {"Q__accountName": "named", "Q__queueServiceUri": ADDRESS}

    project = load(folder, environ)

    assert project.functions[0].trigger.account.endpoint == ("https://named.queue.core.windows.net")
    assert told(project, "Q__accountName counts", "Q__queueServiceUri has no effect")


def test_the_queue_services_address_wins_over_the_plain_one(folder: ProjectFolder) -> None:
    environ = {
        "Q__queueServiceUri": ADDRESS,
        "Q__serviceUri": "https://other.queue.core.windows.net",
    }

    assert account(folder, environ).endpoint == ADDRESS


def test_the_plain_address_is_enough(folder: ProjectFolder) -> None:
    assert account(folder, {"Q__serviceUri": ADDRESS}).endpoint == ADDRESS


@pytest.mark.parametrize("kind", ["managedidentity", "ManagedIdentity"])
def test_a_managed_identity_is_the_systems_own_unless_one_is_named(
    folder: ProjectFolder, kind: str
) -> None:
    found = identity(folder, credential=kind)

    assert (found.kind, found.client_id) == ("managedidentity", None)


def test_a_managed_identity_with_a_client_id_is_that_one(folder: ProjectFolder) -> None:
    assert identity(folder, credential="managedidentity", clientId="3f1c").client_id == "3f1c"


def test_a_workload_identity_has_tenant_client_and_token_file(folder: ProjectFolder) -> None:
    found = identity(
        folder, credential="workloadidentity", tenantId="t", clientId="c", tokenFilePath="/token"
    )

    assert (found.kind, found.tenant_id, found.client_id, found.token_file) == (
        *("workloadidentity", "t", "c"),
        "/token",
    )


@pytest.mark.parametrize("cloud", ["public", "usgov", "china"])
def test_a_managed_identity_may_stand_for_an_app_registration(
    folder: ProjectFolder, cloud: str
) -> None:
    found = identity(
        folder,
        credential="managedidentityasfederatedidentity",
        tenantId="t",
        clientId="c",
        azureCloud=cloud,
        managedIdentityClientId="m",
    )

    assert (found.kind, found.azure_cloud, found.managed_identity_client_id) == (
        *("managedidentityasfederatedidentity", cloud),
        "m",
    )


def test_without_a_credential_key_the_default_one_is_used(folder: ProjectFolder) -> None:
    assert identity(folder).kind == "default"


def test_client_tenant_and_secret_are_a_client_secret(folder: ProjectFolder) -> None:
    found = identity(folder, clientId="c", tenantId="t", clientSecret="s3cr3t-value")

    assert (found.kind, found.client_secret) == ("clientsecret", "s3cr3t-value")
    assert "s3cr3t-value" not in repr(found)


def test_client_tenant_and_certificate_are_a_client_certificate(folder: ProjectFolder) -> None:
    found = identity(folder, clientId="c", tenantId="t", clientCertificatePath="/c.pem")

    assert (found.kind, found.certificate_path) == ("clientcertificate", "/c.pem")


def test_a_managed_identity_by_resource_id_is_refused_as_azure_refuses_it(
    folder: ProjectFolder,
) -> None:
    environ = {"Q__queueServiceUri": ADDRESS, "Q__managedIdentityResourceId": "/subscriptions/x"}

    assert told(load(folder, environ), "managedIdentityResourceId is not taken by Azure Functions")


def test_further_tenants_are_read(folder: ProjectFolder) -> None:
    found = identity(folder, additionallyAllowedTenants="a; b;")

    assert found.additionally_allowed_tenants == ("a", "b")


# --- nothing, or not enough -----------------------------------------------------------------------


def test_nothing_found_says_what_was_looked_for_where_and_the_nearest(
    folder: ProjectFolder,
) -> None:
    project = load(folder, {"Quue": CONNECTION}, "Queue")

    line = told(project, "functions/resize/function.json:1:", "error: no setting for connection")
    for words in ("AzureWebJobsQueue", "Queue__queueServiceUri", "environment", "local.settings"):
        assert words in line
    assert line.endswith('hint: did you mean "Quue"?')


def test_keys_without_an_address_are_named_with_the_missing_one(folder: ProjectFolder) -> None:
    line = told(load(folder, {"Q__clientId": "c", "Q__credential": "managedidentity"}), "error")

    assert "its keys are clientId, credential" in line
    assert "set Q__queueServiceUri" in line


# --- connection strings ---------------------------------------------------------------------------


def test_an_account_key_signs_in(folder: ProjectFolder) -> None:
    assert account(folder, {"Q": CONNECTION}).credential == SharedKey(account="acme", key=KEY)


@pytest.mark.parametrize(
    ("suffix", "host"),
    [
        ("core.chinacloudapi.cn", "acme.queue.core.chinacloudapi.cn"),
        ("core.usgovcloudapi.net", "acme.queue.core.usgovcloudapi.net"),
    ],
)
def test_the_suffix_names_a_sovereign_cloud(folder: ProjectFolder, suffix: str, host: str) -> None:
    found = account(folder, {"Q": f"{CONNECTION};EndpointSuffix={suffix}"})

    assert found.endpoint == f"https://{host}"


def test_a_custom_endpoint_is_taken_as_it_is(folder: ProjectFolder) -> None:
    found = account(folder, {"Q": f"{CONNECTION};QueueEndpoint=https://queues.acme.example/"})

    assert found.endpoint == "https://queues.acme.example"


def test_a_shared_access_signature_signs_in(folder: ProjectFolder) -> None:
    found = account(folder, {"Q": f"QueueEndpoint={ADDRESS};SharedAccessSignature=?sv=1&sig=c2ln"})

    assert found.credential == Sas(token="sv=1&sig=c2ln")


@pytest.mark.parametrize("extra", ["", ";DevelopmentStorageProxyUri=http://127.0.0.1"])
def test_development_storage_is_the_emulator(folder: ProjectFolder, extra: str) -> None:
    found = account(folder, {"Q": f"UseDevelopmentStorage=true{extra}"})

    assert (found.endpoint, found.emulator) == ("http://127.0.0.1:10001/devstoreaccount1", True)


@pytest.mark.parametrize(
    "text",
    [
        CONNECTION.lower().replace(KEY.lower(), KEY),
        f" {CONNECTION} ",
        f"{CONNECTION};",
        CONNECTION.replace(";", "; "),
    ],
)
def test_case_blanks_and_a_final_semicolon_do_no_harm(folder: ProjectFolder, text: str) -> None:
    assert account(folder, {"Q": text}).name == "acme"


@pytest.mark.parametrize("host", ["127.0.0.1:10001", "localhost:1", "10.0.0.5", "azurite:10001"])
def test_hosts_on_loopback_and_private_ones_may_go_without_tls(
    folder: ProjectFolder, host: str
) -> None:
    text = f"QueueEndpoint=http://{host}/acme;AccountName=acme;AccountKey={KEY}"

    assert account(folder, {"Q": text}).endpoint == f"http://{host}/acme"


def test_an_identity_needs_tls_even_there(folder: ProjectFolder) -> None:
    project = load(folder, {"Q__queueServiceUri": "http://127.0.0.1:10001/acme"})

    assert told(project, "an identity's token goes over https only")
