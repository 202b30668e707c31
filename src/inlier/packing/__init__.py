"""The convex problem: the most weight whose scatter stays within a budget."""
