# A few lines of aliases are not a way to fill the memory.
from dovetail import Agent

levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
try:
    Agent().load_yaml_prompt("\n".join(levels) + "\ninput: hi\n")
except ValueError as error:
    print("more than 100000 values" in str(error))

# Output:
# True
