# A structured answer is a plain dict; nested fields and lists too.
# replies: [{"json": {"title": "A bench", "steps": [{"do": "saw", "minutes": 20}, {"do": "glue", "minutes": 5}]}}]
from dovetail import Agent

plan = (
    Agent()
    .input("How do I build a bench?")
    .output({"title": (str, "a few words"), "steps": [{"do": (str, "one verb"), "minutes": (int,)}]})
    .start()
)
print(plan["title"])
for step in plan["steps"]:
    print("-", step["do"], step["minutes"] + 1)

# Output:
# A bench
# - saw 21
# - glue 6
