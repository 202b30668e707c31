"""The convex problems over the packing set: the weights whose scatter satisfies a budget."""
