"""The peer langchain."""

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from benchmarks.tools.peer import main


def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


def make(url):
    model = ChatOpenAI(model="scripted", base_url=url, api_key="none", streaming=True)
    agent = create_agent(model, tools=[add])

    async def run():
        given = {"messages": [{"role": "user", "content": "Count to 21."}]}
        state = await agent.ainvoke(given, {"recursion_limit": 100})
        return state["messages"][-1].content

    return run


if __name__ == "__main__":
    main(make)
