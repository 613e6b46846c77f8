"""The programs of the README, of the front page and of the developers' tour."""

import re

from evals.reality.outcome import Check, Outcome, calls, matches, says, shorten
from evals.reality.visit import Question, Visit

WOODS = (
    "oaks?|oakwood|maples?|hickory|ash|walnuts?|cherry|cherrywood|beech|beechwood|birch|teak|teakwood|mahogany|"
    "pines?|pinewood|bamboo|cedars?|cedarwood|larch|spruce|firs?|elms?|"
    "橡|枫|胡桃|樱桃|桦|柚|桃花心|松|竹|榉|白蜡|栎|柞|杉|红木|樟|楠"
)


def is_wood(outcome: Outcome) -> str | None:
    """Oak with its hardness and both uses, and the hardness plus one below it."""
    pattern = r"Wood\(name=(['\"])(.+?)\1, hardness=(\d+), uses=\[(.+)\]\)\n(\d+)"
    found = re.search(pattern, outcome.text)
    if found is None:
        return f"no wood: {shorten(outcome.text)}"
    _, name, hardness, uses, more = found.groups()
    has_uses = all(re.search(use, uses, re.IGNORECASE) for use in ("floor|地板", "barrel|酒桶"))
    fits = re.fullmatch("oak|橡木", name, re.IGNORECASE) and (hardness, more) == ("6", "7") and has_uses
    return None if fits else f"not what the text says about oak: {shorten(found[0])}"


def has_steps(outcome: Outcome) -> str | None:
    """A title first, then at least two different steps, then the list of them."""
    title = re.match(r"title = \S", outcome.text)
    steps = re.findall(r"^steps\[\d+\] = (.{3,})$", outcome.text, re.MULTILINE)
    fits = title and len(set(steps)) >= 2 and len(set(steps)) == len(steps) and "\nsteps = [" in outcome.text
    return None if fits else f"no title and steps: {shorten(outcome.text)}"


def counts_planes(outcome: Outcome) -> str | None:
    """The call, its result, and then the answer with this number; each piece of text has a line."""
    wanted = r"(?:calls|调用) count_stock \{'item': 'plane'\}[\s\S]*?(?:gets|得到) ok 5\n"
    found = re.search(wanted, outcome.text)
    answer = outcome.text[found.end() :].replace("\n", "") if found else ""
    return None if matches("5|five|五", answer) else f"no 5 from the tool: {shorten(outcome.text)}"


ORDER: list[Check] = [says(r"customer = Ann Smith\n", r"item = (?:oak )?chairs?\n", r"pieces = 3\s")]
ASKED_FOR = "Ann Smith would like three oak chairs."
CHISELS: list[Check] = [calls("count_stock", item="chisel"), says("3|three|三")]

VISITS = [
    *(
        Visit(
            place=place,
            face="program",
            questions=[
                Question(text=ASKED_FOR, checks=ORDER),
                Question(text="How many chisels are in stock?", checks=CHISELS),
            ],
        )
        for place in ("README.md", "README.zh.md")
    ),
    *(
        Visit(place=place, face="program", questions=[Question(text=ASKED_FOR, checks=ORDER)])
        for place in ("docs/index.md", "docs/index.zh.md")
    ),
    *(
        Visit(
            place=place,
            face="program",
            questions=[
                Question(text=wood, checks=[is_wood]),
                Question(text=chisels, checks=[*CHISELS, says(r"\ngoal 2\s")]),
                Question(text=bench, checks=[has_steps]),
                Question(
                    text=planes,
                    checks=[calls("count_stock", item="plane"), counts_planes],
                ),
            ],
        )
        for place, wood, chisels, bench, planes in (
            (
                "docs/tour/developer.md",
                "Oak has hardness 6 and is used for floors and barrels",
                "How many chisels do we have?",
                "How do I build a bench?",
                "How many planes are in stock?",
            ),
            (
                "docs/tour/developer.zh.md",
                "橡木的硬度是 6，用来做地板和酒桶",
                "还有多少把凿子？",
                "怎么做一张长凳？",
                "库存里有多少把刨子？",
            ),
        )
    ),
]
