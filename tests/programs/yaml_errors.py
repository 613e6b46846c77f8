# Wrong prompt files, and what is said about them.
from dovetail import Agent

agent = Agent()
for text in ("input: [1, 2", "just text", ".alias: {input: {.args: go}}", ".alias: {input: go}", "a: {b: 1}"):
    try:
        agent.load_yaml_prompt(text, prompt_key_path="a.c" if text.startswith("a") else None)
    except (TypeError, ValueError) as error:
        print(isinstance(error, TypeError), str(error).splitlines()[0])

# Output:
# False <text>, line 1, column 13: this is not valid YAML: expected ',' or ']', but got '<stream end>'
# True <text>: a prompt configuration must be a mapping, got 'just text'
# True <text>, line 1, column 18: the .args of .alias 'input' must be a list, got 'go'
# False <text>, line 1, column 10: the parameters of .alias 'input' must be a mapping, got 'go'
# True <text>: a prompt configuration must be a mapping at 'a.c', got None
