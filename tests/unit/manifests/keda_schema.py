"""What KEDA 2 takes of the objects that are written, as JSON Schemas of our own words.

Only the keys that are used are here, and no others are allowed: a key that KEDA does not know, or
one of the wrong type, would be refused by a cluster, or be forgotten in silence.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
TEXT: Final[Schema] = {"type": "string", "minLength": 1}


def closed(required: list[str], **properties: Schema) -> Schema:
    """An object with these keys and no others."""
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


def one_of(*texts: str) -> Schema:
    return {"enum": list(texts)}


def listed(items: Schema) -> Schema:
    return {"type": "array", "minItems": 1, "items": items}


METADATA: Final = closed(
    ["name", "labels"],
    name=TEXT,
    namespace=TEXT,
    labels={"type": "object", "additionalProperties": {"type": "string"}},
)
# Values of a trigger are texts, numbers too.
TRIGGER: Final = closed(
    ["type", "metadata", "authenticationRef"],
    type=one_of("azure-queue"),
    name=TEXT,
    metadata=closed(
        ["queueName", "queueLength", "queueLengthStrategy"],
        queueName={"type": "string", "pattern": "^[a-z0-9](-?[a-z0-9])+$", "maxLength": 63},
        queueLength={"type": "string", "pattern": "^[1-9][0-9]*$"},
        queueLengthStrategy=one_of("all", "visibleonly"),
        accountName={"type": "string", "pattern": "^[a-z0-9]{3,24}$"},
        cloud=one_of("AzurePublicCloud", "AzureUSGovernmentCloud", "AzureChinaCloud", "Private"),
        endpointSuffix=TEXT,
    ),
    authenticationRef=closed(["name"], name=TEXT, kind=one_of("TriggerAuthentication")),
)
BEHAVIOR: Final = closed(
    [],
    scaleDown=closed(
        [],
        stabilizationWindowSeconds={"type": "integer", "minimum": 0, "maximum": 3600},
        policies=listed(
            closed(
                ["type", "value", "periodSeconds"],
                type=one_of("Percent", "Pods"),
                value={"type": "integer", "minimum": 1},
                periodSeconds={"type": "integer", "minimum": 1, "maximum": 1800},
            )
        ),
    ),
)
SPECS: Final[dict[str, Schema]] = {
    "ScaledObject": closed(
        ["scaleTargetRef", "triggers"],
        scaleTargetRef=closed(["name"], name=TEXT),
        pollingInterval=COUNT,
        cooldownPeriod=COUNT,
        minReplicaCount=COUNT,
        maxReplicaCount=COUNT,
        fallback=closed(["failureThreshold", "replicas"], failureThreshold=COUNT, replicas=COUNT),
        advanced=closed([], horizontalPodAutoscalerConfig=closed([], behavior=BEHAVIOR)),
        triggers=listed(TRIGGER),
    ),
    "ScaledJob": closed(
        ["jobTargetRef", "triggers"],
        jobTargetRef={"type": "object", "required": ["template"]},
        pollingInterval=COUNT,
        minReplicaCount=COUNT,
        maxReplicaCount=COUNT,
        successfulJobsHistoryLimit=COUNT,
        failedJobsHistoryLimit=COUNT,
        rollout=closed([], strategy=one_of("default", "gradual", "immediate")),
        scalingStrategy=closed([], strategy=one_of("default", "custom", "accurate", "eager")),
        triggers=listed(TRIGGER),
    ),
    "TriggerAuthentication": closed(
        [],
        podIdentity=closed(["provider"], provider=one_of("azure-workload"), identityId=TEXT),
        secretTargetRef=listed(
            closed(["parameter", "name", "key"], parameter=TEXT, name=TEXT, key=TEXT)
        ),
    ),
}


def schema_of(kind: str) -> Schema:
    """The schema of one kind of object."""
    return closed(
        ["apiVersion", "kind", "metadata", "spec"],
        apiVersion=one_of("keda.sh/v1alpha1"),
        kind=one_of(kind),
        metadata=METADATA,
        spec=SPECS[kind],
    )
