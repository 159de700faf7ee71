"""What runs in the cluster: the pods' template, the Deployment, the Secret, the ServiceAccount.

Owns who a pod is, what it may do, what it is given and how long it may take to stop. Who starts
and ends pods is `keda`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from qtrigger.manifests.documents import Document
from qtrigger.manifests.image import APP, STATE, USER
from qtrigger.manifests.plan import GIVEN, Plan, SignsIn

IDLE_S: Final = 30
PORT: Final = 8080
_PORT_NAME: Final = "http"
_PLACEHOLDERS: Final = (
    "Put the values in place of <...>, or leave this object away and make one of the same name by "
    "other means. Keep a filled one out of the repository."
)
_ROLE: Final = (
    "The identity needs a federated credential for this ServiceAccount, and the role Storage Queue "
    "Data Contributor on each storage account: it takes and deletes messages, and makes poison "
    "queues."
)
_STOP: Final = (
    "A pod that is to go stops taking messages and has {grace} s: shutdownTimeout of host.json for "
    "what runs, and 15 s to hand the rest back. Change both together."
)
_HTTP: Final = (
    "On the port http /health/... is open to everybody. The dashboard, /metrics and what acts on "
    "the host want the key QTRIGGER_HTTP_KEY of the Secret, in the header x-functions-key or in "
    "the page's form."
)
_CONTAINER: Final = "qtrigger"
_CLIENT_ID: Final = "azure.workload.identity/client-id"
_USES_IDENTITY: Final = "azure.workload.identity/use"


def metadata(plan: Plan, name: str = "") -> dict[str, Any]:
    """The metadata of an object, which is called like the project unless it has its own name."""
    placed = {"namespace": plan.namespace} if plan.namespace else {}
    return {"name": name or plan.name, **placed, "labels": _labels(plan)}


def secret(plan: Plan) -> Iterator[Document]:
    """The Secret, with texts in place of values; nothing where nothing is secret."""
    if not plan.secrets:
        return
    yield Document(
        remarks=(_PLACEHOLDERS,),
        content={
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata(plan),
            "type": "Opaque",
            "stringData": dict(plan.secrets),
        },
    )


def service_account(plan: Plan) -> Iterator[Document]:
    """The ServiceAccount that stands for an identity of Azure, where one is used."""
    if plan.signs_in is not SignsIn.WORKLOAD_IDENTITY:
        return
    yield Document(
        remarks=(_ROLE,),
        content={
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {
                **metadata(plan),
                "annotations": {_CLIENT_ID: "<client id of the managed identity>"},
            },
        },
    )


def deployment(plan: Plan) -> Document:
    """The Deployment. How many replicas there are is left to KEDA."""
    return Document(
        remarks=(
            "replicas is not said here: KEDA decides, and would be overruled at each apply.",
            _STOP.format(grace=plan.grace_s),
            _HTTP,
        ),
        content={
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata(plan),
            "spec": {"selector": {"matchLabels": _selector(plan)}, "template": template(plan)},
        },
    )


def template(plan: Plan) -> dict[str, Any]:
    """The template of the pods."""
    identity = plan.signs_in is SignsIn.WORKLOAD_IDENTITY
    labels = {**_labels(plan), **({_USES_IDENTITY: "true"} if identity else {})}
    return {
        "metadata": {"labels": labels},
        "spec": {
            **({"serviceAccountName": plan.name} if identity else {}),
            # Functions have no business with the cluster.
            "automountServiceAccountToken": False,
            # A Service's address must not become an app setting by its name.
            "enableServiceLinks": False,
            **({"restartPolicy": "Never"} if plan.once else {}),
            "terminationGracePeriodSeconds": plan.grace_s,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER,
                "runAsGroup": USER,
                "fsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [_container(plan)],
            "volumes": [{"name": "state", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
        },
    }


def _container(plan: Plan) -> dict[str, Any]:
    return {
        "name": _CONTAINER,
        "image": plan.image,
        "args": [
            *("start", APP),
            *_serving(plan),
            *(["--exit-when-idle", str(IDLE_S)] if plan.once else []),
        ],
        **_ports(plan),
        "env": [
            *({"name": name, "value": value} for name, value in {**GIVEN, **plan.plain}.items()),
            *(
                {"name": name, "valueFrom": {"secretKeyRef": {"name": plan.name, "key": name}}}
                for name in plan.secrets
            ),
        ],
        **probes(plan),
        "resources": {
            "requests": {"cpu": "100m", "memory": "192Mi"},
            "limits": {"memory": "512Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "state", "mountPath": STATE},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  # the container's own
        ],
    }


def probes(plan: Plan) -> dict[str, Any]:
    """How the cluster sees whether a pod is up, alive and ready; one that runs once is not asked.

    These paths need no key, and are answered within a second whatever the queue service does.
    """
    if plan.once:
        return {}
    return {
        "startupProbe": _probe("startup", period_s=2, failures=60),
        "livenessProbe": _probe("live", period_s=20, failures=3),
        "readinessProbe": _probe("ready", period_s=10, failures=3),
    }


def _probe(asked: str, *, period_s: int, failures: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": f"/health/{asked}", "port": _PORT_NAME},
        "timeoutSeconds": 5,
        "periodSeconds": period_s,
        "failureThreshold": failures,
    }


def _serving(plan: Plan) -> list[str]:
    """What has a host answer over HTTP, to the cluster too; one that runs once is asked nothing."""
    return [] if plan.once else ["--http", f"0.0.0.0:{PORT}"]


def _ports(plan: Plan) -> dict[str, Any]:
    return {} if plan.once else {"ports": [{"name": _PORT_NAME, "containerPort": PORT}]}


def _labels(plan: Plan) -> dict[str, str]:
    return {**_selector(plan), "app.kubernetes.io/managed-by": "qtrigger"}


def _selector(plan: Plan) -> dict[str, str]:
    return {"app.kubernetes.io/name": plan.name}
