"""What scales in the cluster: KEDA's objects, with one trigger for each function's queue.

Owns which messages count, for how many of them one replica is meant, and why. KEDA itself is
installed by whoever runs the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from qtrigger.manifests.documents import Document
from qtrigger.manifests.plan import PUBLIC, Place, Plan, SignsIn, Watched
from qtrigger.manifests.pods import IDLE_S, metadata, template

API: Final = "keda.sh/v1alpha1"
_CLOUDS: Final = {
    PUBLIC: "AzurePublicCloud",
    "queue.core.usgovcloudapi.net": "AzureUSGovernmentCloud",
    "queue.core.chinacloudapi.cn": "AzureChinaCloud",
}
_READER: Final = (
    "KEDA looks at the queues as its own identity, which needs the role Storage Queue Data Reader; "
    "podIdentity.identityId names another one."
)
_REPLICAS: Final = (
    "From {least} to {most} replicas, each of which runs every function; the queue that asks for "
    "most decides."
)
_JOBS: Final = (
    "Up to {most} Jobs at once, each of which runs every function and ends when all queues have "
    "been empty for {idle} s. KEDA never ends one that runs."
)
_STOP: Final = (
    "A Job that is told to stop has {grace} s: shutdownTimeout of host.json for what runs, and "
    "15 s to hand the rest back."
)
_ALL: Final = (
    "queueLengthStrategy all counts hidden messages too. Those in work are hidden, and with "
    "visibleonly a replica would be taken away under its last messages. Hidden are also messages "
    "that were sent for later or wait for their next try: they count as work, and keep replicas "
    "there until they are done."
)
_VISIBLE: Final = (
    "queueLengthStrategy visibleonly, with scalingStrategy accurate, counts what nobody works on "
    "yet. all would start a Job for messages that another one has in work, and for those that "
    "are hidden until later. From 32 visible messages on KEDA counts all the same."
)


def authentications(plan: Plan) -> Iterator[Document]:
    """How KEDA signs in to look at the queues: one object, or one for each connection."""
    if plan.signs_in is SignsIn.WORKLOAD_IDENTITY:
        yield Document(
            remarks=(_READER,),
            content=_authentication(plan, "", podIdentity={"provider": "azure-workload"}),
        )
        return
    for connection in dict.fromkeys(each.connection for each in plan.watched):
        reference = {"parameter": "connection", "name": plan.name, "key": connection}
        yield Document(content=_authentication(plan, connection, secretTargetRef=[reference]))


def scaled_object(plan: Plan) -> Document:
    """The ScaledObject of the Deployment."""
    return Document(
        remarks=(
            _REPLICAS.format(least=plan.min_replicas, most=plan.max_replicas),
            *_lengths(plan.watched),
            _ALL,
        ),
        content={
            "apiVersion": API,
            "kind": "ScaledObject",
            "metadata": metadata(plan),
            "spec": {
                "scaleTargetRef": {"name": plan.name},
                "pollingInterval": plan.polling_interval_s,
                "cooldownPeriod": plan.cooldown_s,
                "minReplicaCount": plan.min_replicas,
                "maxReplicaCount": plan.max_replicas,
                # While the queues cannot be looked at.
                "fallback": {"failureThreshold": 3, "replicas": max(plan.min_replicas, 1)},
                "advanced": {"horizontalPodAutoscalerConfig": {"behavior": _slow_descent()}},
                "triggers": _triggers(plan, "all"),
            },
        },
    )


def scaled_job(plan: Plan) -> Document:
    """The ScaledJob, each Job of which runs until the queues have been empty for a while."""
    return Document(
        remarks=(
            _JOBS.format(most=plan.max_replicas, idle=IDLE_S),
            _STOP.format(grace=plan.grace_s),
            *_lengths(plan.watched),
            _VISIBLE,
        ),
        content={
            "apiVersion": API,
            "kind": "ScaledJob",
            "metadata": metadata(plan),
            "spec": {
                "jobTargetRef": {
                    "parallelism": 1,
                    "completions": 1,
                    # What it left is taken by the next one; a second start would only wait for it.
                    "backoffLimit": 0,
                    "template": template(plan),
                },
                "pollingInterval": plan.polling_interval_s,
                "minReplicaCount": plan.min_replicas,
                "maxReplicaCount": plan.max_replicas,
                "successfulJobsHistoryLimit": 5,
                "failedJobsHistoryLimit": 5,
                # Applied anew, it lets Jobs that run go on to their ends.
                "rollout": {"strategy": "gradual"},
                "scalingStrategy": {"strategy": "accurate"},
                "triggers": _triggers(plan, "visibleonly"),
            },
        },
    )


def _lengths(watched: Sequence[Watched]) -> Iterator[str]:
    yield (
        "queueLength is how many messages one replica works on at once, batchSize + "
        "newBatchThreshold as they apply to the function, unless it is limited further: "
        + "; ".join(f"{each.function} {each.sum_in_words}" for each in watched)
        + "."
    )


def _triggers(plan: Plan, strategy: str) -> list[dict[str, Any]]:
    return [
        {
            "type": "azure-queue",
            "name": each.function,
            "metadata": {
                "queueName": each.queue,
                "queueLength": str(each.length),
                "queueLengthStrategy": strategy,
                **(_where(each.place) if each.place else {}),
            },
            "authenticationRef": {"name": _authentication_name(plan, each.connection)},
        }
        for each in plan.watched
    ]


def _where(place: Place) -> dict[str, str]:
    cloud = _CLOUDS.get(place.suffix)
    if cloud is None:
        return {
            "accountName": place.account,
            "cloud": "Private",
            "endpointSuffix": place.suffix,
        }
    return {"accountName": place.account, "cloud": cloud}


def _authentication(plan: Plan, connection: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": API,
        "kind": "TriggerAuthentication",
        "metadata": metadata(plan, _authentication_name(plan, connection)),
        "spec": spec,
    }


def _authentication_name(plan: Plan, connection: str) -> str:
    """Names of connections are no names of objects, so that further ones are numbered."""
    connections = list(dict.fromkeys(each.connection for each in plan.watched))
    if plan.signs_in is SignsIn.WORKLOAD_IDENTITY or connections.index(connection) == 0:
        return f"{plan.name}-queues"
    return f"{plan.name}-queues-{connections.index(connection) + 1}"


def _slow_descent() -> dict[str, Any]:
    """At most half of the replicas go in a minute, and only after five quiet ones."""
    return {
        "scaleDown": {
            "stabilizationWindowSeconds": 300,
            "policies": [{"type": "Percent", "value": 50, "periodSeconds": 60}],
        }
    }
