# Options of run are checked before the model is asked.
from dovetail import Agent

for options in ({"max_turns": 1}, {"on_even": print}, {"limits": {"turn": 1}}):
    try:
        Agent().run("go", **options)
    except Exception as error:
        print(str(error).splitlines()[0])

# Output:
# Unknown option 'max_turns' of run(). Write `limits={'turns': …}`.
# Unknown option 'on_even' of run(). Did you mean 'on_event'?
# Unknown limit 'turn'. Did you mean 'turns'?
