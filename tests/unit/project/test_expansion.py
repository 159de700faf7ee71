"""`%NAME%` is replaced by the app setting, and an error says where it was looked for."""

from __future__ import annotations

import pytest

from qtrigger.project.expansion import ExpansionError, expand
from qtrigger.project.settings import Setting, Settings

SETTINGS = Settings(
    [
        Setting(name="X", value="orders"),
        Setting(name="A__B", value="nested"),
        Setting(name="Empty", value=""),
        Setting(name="Percent", value="%X%"),
        Setting(name="With Blank", value="b"),
    ]
)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", "plain"),
        ("%X%", "orders"),
        ("%x%", "orders"),
        ("pre-%X%-post", "pre-orders-post"),
        ("%X%%X%", "ordersorders"),
        ("%A:B%/%A__B%", "nested/nested"),
        ("%Empty%", ""),
        ("%Percent%", "%X%"),
        ("%With Blank%", "b"),
        ("100%%", "100%"),
        ("%%X%%", "%X%"),
    ],
)
def test_names_are_replaced_once_and_a_doubled_sign_is_literal(text: str, result: str) -> None:
    assert expand(text, SETTINGS) == result


def test_a_missing_setting_is_named_with_the_places_and_the_nearest() -> None:
    with pytest.raises(
        ExpansionError, match=r'"%Persent%" names the app setting "Persent".*environment.*local'
    ) as caught:
        expand("%Persent%", SETTINGS)

    assert caught.value.hint == 'did you mean "%Percent%"?'


@pytest.mark.parametrize("text", ["%X", "X%", "%X%-%", "%%%"])
def test_a_sign_without_partner_is_an_error(text: str) -> None:
    with pytest.raises(ExpansionError, match="without a partner"):
        expand(text, SETTINGS)
