# Two streams of one agent, read alternately.
# replies: [{"when": "letters", "text": "abc", "cut": 1}, {"when": "digits", "text": "123", "cut": 1}]
from dovetail import Agent

agent = Agent()
letters = agent.input("letters").get_generator()
digits = agent.input("digits").get_generator()
for pair in zip(letters, digits, strict=True):
    print(*pair)

# Output:
# a 1
# b 2
# c 3
