"""Forty plain questions of the same kinds, which may be looked at."""

from evals.plain.question import Chat, Folder, single

FOLDER: Folder = {
    "notes.txt": "The glue of the bench must dry for twelve hours. Ann Smith ordered it.\n",
    "prices.csv": "wood,euros\noak,48\npine,12\n",
}

KNOWLEDGE = [
    single("Who wrote Hamlet?", "Shakespeare"),
    single("What is the capital of France?", "Paris"),
    single("Which planet is the largest in the solar system?", "Jupiter"),
    single("How many days are in a leap year?", "366"),
    single("What is the chemical formula of water?", "H2O|H₂O"),
    single("Who invented the telephone?", "Bell"),
    single("Which is the longest river in South America?", "Amazon"),
    single("What colour do you get if you mix blue and yellow?", "green"),
    single("Which country is famous for the pyramids of Giza?", "Egypt"),
    single("How many strings does a violin have?", "4|four"),
    single("What is a group of wolves called?", "pack"),
    single("Explain in one sentence what a chisel is.", "tool"),
]
TRANSLATION = [
    single("Say good morning in French.", "bonjour"),
    single("Translate into German: The boards arrive on Monday.", "Montag"),
    single("What is the Spanish word for tree?", "[áa]rbol"),
    single("Translate into English: Je suis fatigué.", "tired"),
    single("How do you say yes in Japanese?", "hai|はい"),
    single("What is the Italian word for milk?", "latte"),
]
ARITHMETIC = [
    single("What is 127 times 49?", "6223"),
    single("What is 15 percent of 80?", "12"),
    single("What is 1000 minus 345?", "655"),
    single("How many minutes are 3.5 hours?", "210"),
    single("What is 144 divided by 12?", "12"),
    single("A board costs 48 euros. How much do 7 boards cost?", "336"),
    single("What is 33 plus 67?", "100"),
    single("What is 11 squared?", "121"),
]
FILES = [
    single("Which files are here?", r"notes\.txt", r"prices\.csv", files=True),
    single("How long must the glue dry? It is in notes.txt.", "twelve|12", files=True),
    single("What does oak cost according to prices.csv?", "48", files=True),
    single("Who ordered the bench in notes.txt?", "Ann", files=True),
]
CHATS: list[Chat] = [
    [
        single("I am Ann and my dog is called Rex.", "Ann|Rex|meet|hello|hi"),
        single("What is my dog's name?", "Rex"),
        single("How many legs does a dog have?", "4|four"),
        single("And how many does a bird have?", "2|two"),
        single("Who am I?", "Ann"),
    ],
    [
        single("What is the capital of Norway?", "Oslo"),
        single("And of Sweden?", "Stockholm"),
        single("What is 30 times 3?", "90"),
        single("Now subtract 15.", "75"),
        single("Which capital did I ask for first?", "Oslo"),
    ],
]
QUESTIONS = {
    "knowledge": [[each] for each in KNOWLEDGE],
    "translation": [[each] for each in TRANSLATION],
    "arithmetic": [[each] for each in ARITHMETIC],
    "files": [[each] for each in FILES],
    "follow-ups": CHATS,
}
