"""Events out, questions out, answers in; policy."""
