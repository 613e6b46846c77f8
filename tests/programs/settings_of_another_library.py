# Settings of Agently, misspelt ones and wrong values are refused where they are set.
from dovetail import Agent
from dovetail.errors import ConfigError

agent = Agent()
for key, value in (
    ("OpenAICompatible", {"base_url": "http://127.0.0.1"}),
    ("response.max_retires", 1),
    ("response.max_retries", "many"),
    ("tools.strategy", "nativ"),
):
    try:
        agent.set_settings(key, value)
    except ConfigError as error:
        print(str(error).splitlines()[0])

# Output:
# Unknown setting 'OpenAICompatible'.
# Unknown setting 'response.max_retires'. Did you mean 'response.max_retries'?
# response.max_retries must be a whole number that is not negative, got 'many'.
# Unknown tools.strategy 'nativ'. Expected one of: judge, native, auto.
