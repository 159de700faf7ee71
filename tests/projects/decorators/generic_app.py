import typing

import azure.functions as func
from answers import seen

app = func.FunctionApp()


@app.function_name(name="put_queue")
@app.generic_trigger(type="queueTrigger", arg_name="req", queue_name="asks", connection="AzureWebJobsStorage")
@app.generic_output_binding(type="queue", arg_name="msg", queue_name="testqueue", connection="AzureWebJobsStorage")
def put_queue(req: func.QueueMessage, msg: func.Out[str]):
    msg.set(req.get_body())


@app.function_name(name="queue_trigger")
@app.generic_trigger(type="queueTrigger", arg_name="msg", queue_name="testqueue", connection="AzureWebJobsStorage")
@app.generic_output_binding(type="queue", arg_name="$return", queue_name="results", connection="AzureWebJobsStorage")
def queue_trigger(msg: func.QueueMessage) -> str:
    return seen(msg)


@app.function_name(name="put_queue_return")
@app.generic_trigger(type="queueTrigger", arg_name="req", queue_name="asks-return", connection="AzureWebJobsStorage")
@app.generic_output_binding(type="queue", arg_name="$return", queue_name="testqueue-return", connection="AzureWebJobsStorage")
def put_queue_return(req: func.QueueMessage) -> bytes:
    return req.get_body()


@app.function_name(name="put_queue_message_return")
@app.generic_trigger(type="queueTrigger", arg_name="req", queue_name="asks-message", connection="AzureWebJobsStorage")
@app.generic_output_binding(type="queue", arg_name="$return", queue_name="testqueue-message", connection="AzureWebJobsStorage")
def main(req: func.QueueMessage) -> bytes:
    return func.QueueMessage(body=req.get_body())


@app.function_name(name="queue_trigger_untyped")
@app.generic_trigger(type="queueTrigger", arg_name="msg", queue_name="untyped", connection="AzureWebJobsStorage")
@app.generic_output_binding(type="queue", arg_name="$return", queue_name="results", connection="AzureWebJobsStorage")
def queue_trigger_untyped(msg: str) -> str:
    return msg


@app.function_name(name="put_queue_return_multiple")
@app.generic_trigger(type="queueTrigger", arg_name="req", queue_name="asks-multiple", connection="AzureWebJobsStorage")
@app.generic_output_binding(type="queue", arg_name="msgs", queue_name="multiple", connection="AzureWebJobsStorage")
def put_queue_return_multiple(req: str, msgs: func.Out[typing.List[str]]):
    msgs.set(["one", "two"])


@app.function_name(name="put_queue_multiple_out")
@app.generic_trigger(type="queueTrigger", arg_name="req", queue_name="asks-outs", connection="AzureWebJobsStorage")
@app.generic_output_binding(type="queue", arg_name="resp", queue_name="answers", connection="AzureWebJobsStorage")
@app.generic_output_binding(type="queue", arg_name="msg", queue_name="outs", connection="AzureWebJobsStorage")
def put_queue_multiple_out(req: str, resp: func.Out[str], msg: func.Out[func.QueueMessage]):
    resp.set(f"answer: {req}")
    msg.set(func.QueueMessage(body=req))
