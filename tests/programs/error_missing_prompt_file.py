# A path that is not there.
from pathlib import Path

from dovetail import Agent

for path in ("prompts/shop.yaml", Path("shop.yaml")):
    try:
        Agent().load_yaml_prompt(path)
    except TypeError as error:
        print(error)

# Output:
# <text>: a prompt configuration must be a mapping, got 'prompts/shop.yaml'
# If 'prompts/shop.yaml' is meant as a path: the file does not exist.
# Cannot read the prompt file 'shop.yaml': No such file or directory.
