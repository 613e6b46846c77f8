"""Keep a prompt in a YAML file, apart from the program, and fill in its placeholders."""

from pathlib import Path

from dovetail import Agent

PROMPT = Path(__file__).parent / "prompts" / "advertisement.yaml"

if __name__ == "__main__":
    agent = Agent().load_yaml_prompt(PROMPT, {"product": "an oak stool", "reader": "young families"})
    advertisement = agent.start()
    print(advertisement["headline"])
    print(advertisement["text"])
