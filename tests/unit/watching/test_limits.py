"""What is said when the system gives no file events."""

from __future__ import annotations

import pytest

from qtrigger.watching.wakers import why_not


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ('OS file watch limit reached. about ["/p/a"]', "fs.inotify.max_user_watches"),
        ("Error creating recommended watcher: Too many open files (os error 24)",
         "fs.inotify.max_user_instances"),
    ],
)  # fmt: skip
def test_the_limit_that_is_reached_is_named_with_what_raises_it(text: str, limit: str) -> None:
    assert f"{limit} is used up (sudo sysctl {limit}=" in why_not(text)


def test_any_other_reason_is_said_as_it_is() -> None:
    assert why_not("not supported (os error 95)").endswith(": not supported (os error 95)")
