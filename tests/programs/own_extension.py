# An agent extension of one's own joins in every request, in whatever thread it is made.
# replies: [{"when": "Be polite", "text": "Good morning."}, {"when": "Be polite", "text": "Good evening."}]
from concurrent.futures import ThreadPoolExecutor

from dovetail import Agent


class Polite(Agent):
    def set_up(self):
        super().set_up()
        self.extension_handlers.append("request_prefixes", self.add_politeness)

    def add_politeness(self, prompt, settings):
        prompt.set("instruct", "Be polite")


agent = Polite()
with ThreadPoolExecutor() as pool:
    for job in [pool.submit(agent.input(greeting).start) for greeting in ("Morning", "Evening")]:
        print(job.result()[:4])

# Output:
# Good
# Good
