import dataclasses
import json
from datetime import datetime
from typing import List, Optional


@dataclasses.dataclass
class Item:
    name: str
    price: float
    note: Optional[str] = None


@dataclasses.dataclass
class Order:
    number: int
    items: List[Item] = dataclasses.field(default_factory=list)


async def main(
    msg: Order, dequeueCount: int, maxDequeueCount: int, id, insertion_time: datetime, queue_trigger: str
) -> str:
    assert isinstance(msg, Order) and all(isinstance(item, Item) for item in msg.items)
    return json.dumps(
        {
            "order": dataclasses.asdict(msg),
            "id": id,
            "dequeue_count": [dequeueCount, maxDequeueCount],
            "insertion_time": insertion_time.isoformat(),
            "body": queue_trigger,
        }
    )
