"""What a shared access signature rules out by its own text."""

from __future__ import annotations

import pytest

from qtrigger.queues import wire
from qtrigger.queues.sas import lacks, shortcoming

SERVICE = "sv=2021-12-02&se=2030-01-01&sig=c2ln&sp="
ACCOUNT = "ss=bqtf&srt=sco&sv=2021-12-02&sig=c2ln&sp="


@pytest.mark.parametrize(
    ("operation", "letter"),
    [
        (wire.GET_MESSAGES, "p"),
        (wire.DELETE_MESSAGE, "p"),
        (wire.UPDATE_MESSAGE, "u"),
        (wire.PUT_MESSAGE, "a"),
        (wire.PEEK_MESSAGES, "r"),
        (wire.GET_PROPERTIES, "r"),
    ],
)
@pytest.mark.parametrize("token", [SERVICE, ACCOUNT, f"?{SERVICE}"])
def test_an_operation_needs_its_letter(token: str, operation: wire.Operation, letter: str) -> None:
    others = "".join(sorted(set("raup") - {letter}))

    assert not lacks(token + letter, operation)
    assert lacks(token + others, operation)


def test_only_an_account_sas_creates_and_lists_queues() -> None:
    assert lacks(f"{SERVICE}raup", wire.CREATE_QUEUE)
    assert lacks(f"{SERVICE}raup", wire.LIST_QUEUES)
    assert not lacks(f"{ACCOUNT}c", wire.CREATE_QUEUE)
    assert not lacks(f"{ACCOUNT}w", wire.CREATE_QUEUE)
    assert not lacks(f"{ACCOUNT}l", wire.LIST_QUEUES)


def test_an_account_sas_must_be_for_queues_and_for_what_is_asked_of() -> None:
    assert lacks("ss=b&srt=sco&sp=rwdlacup&sig=c2ln", wire.GET_MESSAGES)
    assert lacks("ss=q&srt=sc&sp=rwdlacup&sig=c2ln", wire.GET_MESSAGES)
    assert lacks("ss=q&srt=so&sp=rwdlacup&sig=c2ln", wire.GET_PROPERTIES)
    assert not lacks("ss=q&srt=o&sp=p&sig=c2ln", wire.GET_MESSAGES)


def test_what_a_stored_policy_grants_is_left_open() -> None:
    assert not lacks("sv=2021-12-02&si=policy&sig=c2ln", wire.GET_MESSAGES)
    assert not lacks("sv=2021-12-02&si=policy&sig=c2ln", wire.CREATE_QUEUE)


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (f"{SERVICE}raup", ""),
        (f"{SERVICE}rap", "lacks the permission u (update)"),
        (f"{SERVICE}p", "lacks the permissions u (update) and a (add)"),
        ("ss=b&srt=sco&sp=raup&sig=c2ln", "is not for the queue service (ss=q)"),
        ("ss=q&srt=sc&sp=raup&sig=c2ln", "is not for this type of resource (srt=o)"),
    ],
)
def test_what_a_sas_is_short_of_is_said_in_the_services_own_letters(token: str, said: str) -> None:
    needs = (wire.GET_MESSAGES, wire.UPDATE_MESSAGE, wire.PUT_MESSAGE)

    assert shortcoming(token, needs) == said
