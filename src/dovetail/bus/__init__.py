"""Events out, questions out, answers in; the policy that says which calls may run."""
