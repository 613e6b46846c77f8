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
# If 'prompts/shop.yaml' is meant as a path: there is no such file.
# the prompt file 'shop.yaml' cannot be read: No such file or directory
