"""A host is scraped while it runs, is reloaded and fails; what it counts is what has happened."""

from __future__ import annotations

import json
import re
import signal
import urllib.request

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, RunningHost, qtrigger, running
from tests.unit.measured import Scrape

CODE = """
def main(msg, out):
    if msg.get_body() == b"bad":
        raise ValueError("no card")
    out.set("done")
    note("ran")
"""


def scrape(host: RunningHost) -> Scrape:
    """Ask as Prometheus does."""
    host.wait_for("http://")
    address = re.search(r"http://127\.0\.0\.1:\d+", host.output)
    assert address is not None
    with urllib.request.urlopen(f"{address[0]}/metrics", timeout=10.0) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return Scrape(answer.read().decode())


async def test_a_host_is_scraped_over_a_reload(folder: ProjectFolder, service: Service) -> None:
    del folder.environ["QTRIGGER_START_NO_HTTP"]
    queue = folder.queue("charges")
    queues = {
        "maxDequeueCount": 2,
        "visibilityTimeout": "00:00:00",
        "maxPollingInterval": "00:00:01",
    }
    folder.host_json(queues, pricePer10kTransactions=10_000, currency="EUR")
    folder.function("charge", CODE, queue="charges", out={"out": "done"})
    folder.function("refund", CODE, queue="refunds", out={"out": "done"})
    await service.put(queue, ["a", "b", "bad"])

    with running(folder, "--http", "127.0.0.1:0", "--no-reload") as host:
        host.wait_for("POISON")
        host.wait_for("  ok  ", count=2)
        first = scrape(host)

        name = "qtrigger_invocations_total"
        assert first.value(name, function="charge", outcome="succeeded") == 2
        assert first.value(name, function="charge", error_type="ValueError") == 2
        assert (
            first.value("qtrigger_messages_poisoned_total", reason="tries", function="charge") == 1
        )
        assert first.value("qtrigger_poison_messages", function="charge") == 1
        assert first.value("qtrigger_queue_messages", function="charge", queue=queue) == 0
        assert first.by("qtrigger_function_up", "function") == {"charge": 1, "refund": 1}
        assert first.value("qtrigger_host_ready") == 1
        puts = first.by("qtrigger_storage_requests_total", "status", operation="put_message")
        assert puts["201"] == 3  # two outputs and a poison copy
        assert puts.get("404", 0) <= 3  # where their queues were not there yet
        transactions = first.by("qtrigger_storage_transactions_total", "function")
        costs = first.by("qtrigger_storage_cost_total", "function")
        assert costs == transactions
        requests = sum(sample.value for sample in first.samples("qtrigger_storage_requests_total"))
        assert requests >= sum(transactions.values()) > 0
        memory = first.by("qtrigger_worker_memory_bytes", "worker")
        assert [place for place, size in memory.items() if size > 2**20] == ["1"]
        assert first.value("process_resident_memory_bytes") is not None

        (folder.root / "functions" / "refund" / "function.json").unlink()
        await service.put(queue, ["c"])
        host.wait_for("  ok  ", count=3)
        assert qtrigger("reload", str(folder.root), "--wait").returncode == 0
        second = scrape(host)

        assert second.value(name, function="charge", outcome="succeeded") == 3
        assert second.value("qtrigger_reloads_total", result="done") == 1
        assert second.by("qtrigger_function_up", "function") == {"charge": 1}
        host.signal(signal.SIGTERM)
        assert host.wait() == 0


async def test_who_wants_no_metrics_has_no_library_for_them(
    folder: ProjectFolder, service: Service
) -> None:
    """Neither has one who wants no traces."""
    folder.function("charge", "def main(msg): note('ran')", queue="charges")
    await service.put(folder.queue("charges"), ["a"])
    folder.environ["PYTHONPROFILEIMPORTTIME"] = "1"

    with running(folder, "--exit-when-idle", "0.3") as host:
        assert host.wait() == 0

    assert folder.notes() == ["ran"]
    imported = json.dumps([line for line in host.lines if line.startswith("import time:")])
    assert "qtrigger.listener" in imported
    assert "prometheus_client" not in imported
    assert "opentelemetry" not in imported
