"""Make tools from functions, classes, LangChain tools and functions of the browser."""
