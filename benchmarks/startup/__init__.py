"""How long it takes until a program can use Dovetail."""
