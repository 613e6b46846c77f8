"""Make tools from functions, classes, LangChain tools and browser handlers."""
