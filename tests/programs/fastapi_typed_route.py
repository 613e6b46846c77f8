# A route returns a typed answer; an answer that never fits, and a refused key, become status codes.
# replies: [
#   {"when": "three chairs", "json": {"item": "chair", "pieces": 3}},
#   {"when": "wrong", "json": {"item": "chair", "pieces": "many"}},
#   {"when": "cannot be used", "json": {"item": "chair", "pieces": "lots"}},
#   {"when": "locked", "error": {"message": "no", "status": 401}}
# ]
from fastapi import FastAPI, HTTPException
from fastapi.testclient import TestClient
from pydantic import BaseModel

from dovetail import Agent
from dovetail.errors import ModelError, ResponseError


class Order(BaseModel):
    item: str
    pieces: int


app = FastAPI()
agent = Agent(system="You read orders.")


@app.get("/order")
async def read(text: str) -> Order:
    try:
        return await agent.input(text).returns(Order).async_start(max_retries=1)
    except ResponseError:
        raise HTTPException(422, "not an order") from None
    except ModelError:
        raise HTTPException(502, "no model") from None


client = TestClient(app)
for text in ["three chairs", "wrong", "locked"]:
    answer = client.get("/order", params={"text": text})
    print(answer.status_code, answer.json())

# Output:
# 200 {'item': 'chair', 'pieces': 3}
# 422 {'detail': 'not an order'}
# 502 {'detail': 'no model'}
