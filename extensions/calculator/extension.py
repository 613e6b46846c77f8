"""Exact arithmetic for models: parse the expression as a syntax tree and evaluate only known operations."""

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from dovetail.errors import ToolError

LONGEST_EXPRESSION = 1000
LARGEST_EXPONENT = 10_000
MOST_BITS = 14_000
MOST_DIGITS = 1000
Number = int | float


def _round(value: Number, digits: int | None = None) -> Number:
    """Round as Python does, within a limit: Python would build a power of ten with that many digits."""
    if digits is not None and abs(digits) > MOST_DIGITS:
        raise ToolError(f"round(…, {digits}) exceeds the limit of {MOST_DIGITS} digits.")
    return round(value, digits)


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "cos": math.cos,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log10": math.log10,
    "max": max,
    "min": min,
    "round": _round,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
}
CONSTANTS = {"e": math.e, "pi": math.pi, "tau": math.tau}
PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*(?:%(?!\s*[\w(.])|percent\b)")
"""A percentage: `15%` before an operator or at the end; `17 % 5`, before a number, is the remainder."""
OF = re.compile(r"(?<=[%t])\s+of\s+")
SIGNS = str.maketrans({"\u00d7": "*", "\u00f7": "/", "\u2212": "-", "^": "**"})


def calculate(expression: str) -> str:
    """Return the value of an arithmetic expression as text."""
    text = PERCENT.sub(r"(\1/100)", OF.sub("*", expression.strip().translate(SIGNS)))
    if not text or len(text) > LONGEST_EXPRESSION:
        raise ToolError(f"The expression must have 1 to {LONGEST_EXPRESSION} characters.")
    try:
        return _format(_evaluate(ast.parse(text, mode="eval").body))
    except SyntaxError as error:
        raise ToolError(f"Invalid arithmetic expression {expression!r}: {error.msg}.") from error
    except (RecursionError, MemoryError) as error:  # what the parser raises depends on the Python version
        raise ToolError("The expression is nested too deeply.") from error
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ToolError(f"Cannot calculate {expression!r}: {error}.") from error


def _evaluate(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return UNARY[type(op)](_evaluate(operand))
        case ast.BinOp(op=op, left=left, right=right) if type(op) in BINARY:
            return _combine(type(op), _evaluate(left), _evaluate(right))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_evaluate(argument) for argument in arguments))
        case _:
            pass
    known = ", ".join([*FUNCTIONS, *CONSTANTS])
    raise ToolError(f"{ast.unparse(node)!r} is not allowed. Use numbers, + - * / // % ** ( ) and {known}.")


def _combine(kind: type[ast.operator], left: Number, right: Number) -> Number:
    if kind is ast.Pow and abs(right) > LARGEST_EXPONENT:
        raise ToolError(f"The exponent must be at most {LARGEST_EXPONENT}, got {right}.")
    if kind is ast.Pow and isinstance(left, int) and left.bit_length() * abs(right) > MOST_BITS:
        raise ToolError("The result would have too many digits.")
    value = BINARY[kind](left, right)
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ToolError("The result has too many digits.")
    if isinstance(value, complex):
        raise ToolError("The result is not a real number.")
    return value


def _format(value: Number) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


TOOL = {
    "label": "math",
    "name": "calculate",
    "description": "Calculate an arithmetic expression exactly, such as 127 * 49 or sqrt(2) / 3",
    "kind": "think",
    "parameters": {
        "expression": {
            "type": "string",
            "description": "Numbers with + - * / // % ** and parentheses; sqrt, log, sin, round, … and pi, e",
            "required": True,
        },
    },
    "execute": calculate,
}
