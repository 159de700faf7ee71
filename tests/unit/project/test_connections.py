"""A connection's name leads to an account by Azure's order, and a miss says all about itself."""

from __future__ import annotations

import pytest

from qtrigger.project.connections import Connection, ConnectionUnusable, resolve
from qtrigger.project.settings import Setting, Settings
from qtrigger.queues.account import Identity, Sas, SharedKey
from tests.unit.project.folder import KEY

URI = "https://acme.queue.core.windows.net"


def named(account: str) -> str:
    return f"AccountName={account};AccountKey={KEY}"


def found(name: str, **settings: str) -> Connection:
    return resolve(name, _settings(settings))


def refused(name: str, **settings: str) -> tuple[str, str]:
    with pytest.raises(ConnectionUnusable) as caught:
        resolve(name, _settings(settings))
    assert KEY not in f"{caught.value} {caught.value.hint}"
    return str(caught.value), caught.value.hint


def identity(**settings: str) -> Identity:
    credential = found("Q", Q__queueServiceUri=URI, **settings).account.credential
    assert isinstance(credential, Identity)
    return credential


def _settings(settings: dict[str, str]) -> Settings:
    return Settings(Setting(name=name, value=value) for name, value in settings.items())


@pytest.mark.parametrize(
    "name", ["", "  ", "Storage", "AzureWebJobsStorage", "azurewebjobsstorage"]
)
def test_the_default_connection_has_many_names(name: str) -> None:
    assert found(name, AzureWebJobsStorage=named("acme")).account.name == "acme"


def test_of_the_four_places_the_first_that_exists_counts() -> None:
    places = {
        "ConnectionStrings__AzureWebJobsQ": named("first"),
        "AzureWebJobsQ": named("second"),
        "CUSTOMCONNSTR_Q": named("third"),
        "Q": named("fourth"),
    }

    for account in ("first", "second", "third", "fourth"):
        assert found("Q", **places).account.name == account
        places.pop(next(iter(places)))


def test_a_value_counts_before_the_keys_below_it() -> None:
    resolved = found("Q", Q=named("acme"), Q__accountName="other")

    assert isinstance(resolved.account.credential, SharedKey)
    assert resolved.account.name == "acme"


def test_a_section_with_keys_counts_even_beside_an_empty_value() -> None:
    assert found("Q", Q="", Q__accountName="acme").account.endpoint == URI


def test_a_miss_names_what_was_looked_for_where_and_the_nearest() -> None:
    message, hint = refused("MyStorage", AzureWebJobsMyStorge=named("acme"), PATH="/bin")

    for part in ("AzureWebJobsMyStorage", "MyStorage", "environment", "local.settings.json"):
        assert part in message
    assert "MyStorage__queueServiceUri" in message
    assert hint == 'did you mean "AzureWebJobsMyStorge"?'


def test_a_miss_without_local_settings_says_what_writes_them() -> None:
    hint = refused("AzureWebJobsStorage", PATH="/bin")[1]

    assert hint.startswith("set AzureWebJobsStorage; ")
    assert "AzureWebJobsAzureWebJobs" not in hint
    assert "qtrigger init" in hint


def test_a_misspelt_setting_of_azures_own_name_is_what_is_wrong() -> None:
    hint = refused("AzureWebJobsStorage", AzureWebJobStorage=named("acme"))[1]

    assert hint == '"AzureWebJobStorage" is spelt AzureWebJobsStorage'


def test_a_miss_of_a_section_offers_the_sections_name() -> None:
    assert refused("Ordrs", Orders__accountName="acme")[1] == 'did you mean "Orders"?'


def test_an_empty_setting_counts_as_missing_and_is_told() -> None:
    message, _ = refused("", AzureWebJobsStorage=" ")

    assert '"AzureWebJobsStorage" (environment) is set but empty' in message
    assert found("Q", AzureWebJobsQ="", Q=named("acme")).account.name == "acme"


def test_a_bad_connection_string_is_told_by_its_setting() -> None:
    message, _ = refused("Q", Q="AccountName=acme;AccountKey=broken!")

    assert 'the setting "Q" (environment) is no usable connection string' in message
    assert "broken!" not in message


def test_a_key_vault_reference_is_told() -> None:
    assert "Key Vault" in refused("Q", Q="@Microsoft.KeyVault(SecretUri=https://x)")[0]


@pytest.mark.parametrize("name", [named("acme"), KEY, "a=b"])
def test_a_connection_string_in_place_of_a_name_is_told_and_not_shown(name: str) -> None:
    message, hint = refused(name)

    assert "must be the name of a setting" in message
    assert "app setting" in hint


@pytest.mark.parametrize("key", ["queueServiceUri", "serviceUri", "QUEUESERVICEURI"])
def test_an_address_is_enough_for_the_default_identity(key: str) -> None:
    account = found("Q", **{f"Q__{key}": f"{URI}/"}).account

    assert account.endpoint == URI
    assert account.credential == Identity(kind="default")


def test_the_accounts_name_beats_an_address_and_the_loser_is_named() -> None:
    resolved = found("Q", Q__accountName="Other", Q__queueServiceUri=URI)

    assert resolved.account.endpoint == "https://other.queue.core.windows.net"
    (warning,) = resolved.warnings
    assert "Q__queueServiceUri has no effect" in warning.message


def test_the_addresses_scheme_is_needed() -> None:
    message, hint = refused("Q", Q__queueServiceUri="acme.queue.core.windows.net")

    assert 'Q__queueServiceUri has no scheme: "acme.queue.core.windows.net"' in message
    assert hint == f"write it as {URI}"


def test_an_old_name_of_the_address_is_taken_with_a_word() -> None:
    resolved = found("Q", Q__endpoint=URI)

    assert resolved.account.endpoint == URI
    assert "old name" in resolved.warnings[0].message


@pytest.mark.parametrize("uri", ["http://127.0.0.1:10001/devstoreaccount1", "http://azurite/x"])
def test_an_identity_needs_tls_everywhere(uri: str) -> None:
    assert "https only" in refused("Q", Q__queueServiceUri=uri)[0]


def test_keys_without_an_address_are_listed_with_the_missing_one() -> None:
    message, hint = refused(
        "Q", Q__blobServiceUri="https://acme.blob.core.windows.net", Q__clientId="c"
    )

    assert "blobServiceUri, clientId" in message
    assert "blobServiceUri is for another service; a queue needs Q__queueServiceUri" in hint


def test_a_misspelt_key_is_told() -> None:
    assert "queueServiceUri" in refused("Q", Q__queueServiceUrl=URI)[1]


def test_a_section_may_spell_key_or_sas_out() -> None:
    keyed = found(
        "Q",
        Q__serviceUri=URI,
        Q__credential__accountName="acme",
        Q__credential__accountKey=KEY,
    )
    signed = found("Q", Q__serviceUri=URI, Q__credential__signature="?sv=1&sig=x")

    assert keyed.account.credential == SharedKey(account="acme", key=KEY)
    assert signed.account.credential == Sas(token="sv=1&sig=x")
    assert found("Q", Q__connectionString=named("acme")).account.name == "acme"


def test_managed_identity_is_the_systems_or_the_named_one() -> None:
    assert identity(Q__credential="managedidentity") == Identity(kind="managedidentity")
    named_one = identity(Q__credential="ManagedIdentity", Q__clientId="c")
    assert (named_one.kind, named_one.client_id) == ("managedidentity", "c")


def test_workload_identity_falls_back_to_the_platforms_variables() -> None:
    found_one = identity(
        Q__credential="workloadidentity",
        Q__clientId="c",
        AZURE_TENANT_ID="t",
        AZURE_CLIENT_ID="other",
        AZURE_FEDERATED_TOKEN_FILE="/token",
    )

    assert found_one == Identity(
        kind="workloadidentity", tenant_id="t", client_id="c", token_file="/token"
    )


def test_a_federated_identity_is_read() -> None:
    found_one = identity(
        Q__credential="managedidentityasfederatedidentity",
        Q__tenantId="t",
        Q__clientId="c",
        Q__azureCloud="Public",
        Q__managedIdentityClientId="m",
    )

    assert (found_one.azure_cloud, found_one.managed_identity_client_id) == ("public", "m")


def test_a_client_secret_needs_all_three_keys() -> None:
    whole = identity(Q__tenantId="t", Q__clientId="c", Q__clientSecret="s")
    resolved = found("Q", Q__queueServiceUri=URI, Q__clientId="c", Q__clientSecret="s")

    assert whole == Identity(kind="clientsecret", tenant_id="t", client_id="c", client_secret="s")
    assert resolved.account.credential == Identity(kind="default", client_id="c")
    assert "Q__tenantId" in resolved.warnings[0].message


def test_a_certificate_is_read_from_a_file() -> None:
    found_one = identity(Q__tenantId="t", Q__clientId="c", Q__clientCertificatePath="/c.pem")

    assert (found_one.kind, found_one.certificate_path) == ("clientcertificate", "/c.pem")


def test_other_keys_shape_the_default_identity() -> None:
    found_one = identity(Q__tenantId="t", Q__additionallyAllowedTenants="a; b;")

    assert found_one == Identity(
        kind="default", tenant_id="t", additionally_allowed_tenants=("a", "b")
    )


def test_an_unknown_kind_of_credential_is_ignored_with_a_word() -> None:
    resolved = found("Q", Q__queueServiceUri=URI, Q__credential="managedidentiy")

    assert resolved.account.credential == Identity(kind="default")
    assert resolved.warnings[0].hint == 'did you mean "managedidentity"?'


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"credential": "managedidentity", "clientId": "c", "managedIdentityObjectId": "o"},
            "more",
        ),
        ({"credential": "managedidentity", "managedIdentityResourceId": "r"}, "not taken by Azure"),
        ({"managedIdentityResourceId": "r"}, "not taken by Azure"),
        ({"managedIdentityObjectId": "o"}, "only with managed identity"),
        ({"credential": "workloadidentity"}, "Q__tenantId .or AZURE_TENANT_ID."),
        ({"credential": "managedidentityasfederatedidentity"}, "needs Q__tenantId"),
        (
            {
                "credential": "managedidentityasfederatedidentity",
                "tenantId": "t",
                "clientId": "c",
                "azureCloud": "mars",
            },
            "one of public, usgov, china",
        ),
        (
            {
                "credential": "managedidentityasfederatedidentity",
                "tenantId": "t",
                "clientId": "c",
                "azureCloud": "china",
            },
            "needs one of",
        ),
        ({"credential": "azurepipelines"}, "not supported"),
        ({"clientCertificate": "THUMB"}, "Windows store"),
    ],
)
def test_keys_that_make_no_identity_are_refused(keys: dict[str, str], said: str) -> None:
    settings = {f"Q__{key}": value for key, value in keys.items()}

    with pytest.raises(ConnectionUnusable, match=said):
        found("Q", Q__queueServiceUri=URI, **settings)
