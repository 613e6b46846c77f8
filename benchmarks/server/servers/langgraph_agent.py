"""The agent that `langgraph dev` serves."""

import os

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="scripted", base_url=os.environ["UPSTREAM"], api_key="none", streaming=True)
agent = create_agent(model, tools=[])
