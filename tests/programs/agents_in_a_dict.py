# Agents as keys and values, one for each language, asked from a thread pool.
# replies: [{"when": "fr: hello", "text": "bonjour"}, {"when": "de: hello", "text": "hallo"}]
from concurrent.futures import ThreadPoolExecutor

from dovetail import Agent

agents = {language: Agent(language) for language in ("fr", "de")}
names = {agent: language for language, agent in agents.items()}
with ThreadPoolExecutor() as pool:
    jobs = {
        language: pool.submit(agent.input(f"{language}: hello").start) for language, agent in agents.items()
    }
print({language: job.result() for language, job in jobs.items()}, sorted(names.values()))

# Output:
# {'fr': 'bonjour', 'de': 'hallo'} ['de', 'fr']
