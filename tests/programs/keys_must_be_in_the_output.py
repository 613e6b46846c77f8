# A typo in a key is found before anything is sent.
from dovetail import Agent

agent = Agent().input("A tree").output({"title": (str,), "size": {"height": (int,)}})
try:
    agent.get_key_result("size.heigth", must_in_prompt=True)
except NotImplementedError as error:
    print(error)

# Output:
# The output has no key 'size.heigth'. Expected one of: title, size, size.height.
# Did you mean 'size.height'?
