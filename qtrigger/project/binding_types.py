"""The binding types that Azure Functions has, and those that are run here.

Data only, so that a misspelt type can be told from one that is somebody else's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

RUN_HERE: Final = frozenset({"queueTrigger", "queue"})

_NAMES: Final = (
    *("queueTrigger", "queue", "blobTrigger", "blob", "table"),
    *("httpTrigger", "http", "timerTrigger", "warmupTrigger"),
    *("serviceBusTrigger", "serviceBus", "eventHubTrigger", "eventHub"),
    *("eventGridTrigger", "eventGrid", "cosmosDBTrigger", "cosmosDB", "documentDB"),
    *("kafkaTrigger", "kafka", "rabbitMQTrigger", "rabbitMQ"),
    *("redisPubSubTrigger", "redisListTrigger", "redisStreamTrigger", "redis"),
    *("sqlTrigger", "sql", "mysqlTrigger", "mysql", "sendGrid", "twilioSms"),
    *("signalRTrigger", "signalR", "signalRConnectionInfo", "signalREndpoints"),
    *("webPubSubTrigger", "webPubSub", "webPubSubConnection", "webPubSubContext"),
    *("orchestrationTrigger", "activityTrigger", "entityTrigger", "durableClient"),
    *("orchestrationClient", "mcpToolTrigger", "mcpResourceTrigger", "assistantSkillTrigger"),
    *("daprServiceInvocationTrigger", "daprBindingTrigger", "daprTopicTrigger"),
    *("daprState", "daprSecret", "daprPublish", "daprInvoke", "daprBinding"),
)
# By the name in small letters, since types are compared without case.
KNOWN: Final[Mapping[str, str]] = {name.casefold(): name for name in _NAMES}


def is_trigger(binding: Mapping[str, Any]) -> bool:
    """Whether a binding calls the function: its type says trigger, and it does not go out."""
    direction = binding.get("direction", "in")
    outward = isinstance(direction, str) and direction.casefold() == "out"
    return str(binding["type"]).casefold().endswith("trigger") and not outward
