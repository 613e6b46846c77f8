# Mistyped names are refused before anything is sent.
from dovetail import Agent
from dovetail.errors import ConfigError

agent = Agent().output({"a": (int,)}, always=True)
for options in ({"ensure_key": ["a"]}, {"type": "orginal"}):
    try:
        agent.input("x").start(**options)
    except TypeError as error:
        print(str(error).splitlines()[0])
try:
    agent.input("x").get_generator(type="instants")
except ConfigError as error:
    print(error)

# Output:
# Unknown argument 'ensure_key'. Expected one of: ensure_keys, max_retries, raise_ensure_failure.
# Unknown data type 'orginal'. Expected one of: parsed, original, text, all.
# Unknown generator type 'instants'. Expected one of: all, delta, specific, instant, original.
