"""The same functions, declared by decorators."""

import azure.functions as func

from functions import rules

app = func.FunctionApp()
STORE = "AzureWebJobsStorage"


def declare(function, binding):
    queue = "%Prefix%-" + function.__name__.replace("_", "-")
    declared = app.queue_output(arg_name=binding, queue_name=f"{queue}-out", connection=STORE)(function)
    app.queue_trigger(arg_name="msg", queue_name=queue, connection=STORE)(declared)


for name in (
    "properties return_str return_bytes return_message return_message_exact json_body untyped "
    "logs_awaited logs_threaded"
).split():
    declare(getattr(rules, name), "$return")
for name in (
    "set_str set_bytes set_bytes_on_str set_message set_texts set_messages set_untyped set_twice"
).split():
    declare(getattr(rules, name), "out")
