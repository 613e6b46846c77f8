# A schema or a name in quotes is not a type.
from dovetail import Agent
from dovetail.errors import ConfigError

for kind in ({"total": (float, "net")}, "Invoice"):
    try:
        Agent().input("x").returns(kind)
    except ConfigError as error:
        print(error)

# Output:
# A typed answer needs a type, got {'total': (<class 'float'>, 'net')}.
# Pass the class itself. For an output schema, use agent.output(...).start().
# A typed answer needs a type, got 'Invoice'.
# Pass the class itself. For an output schema, use agent.output(...).start().
