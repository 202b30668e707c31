"""The figures of a result, described once: what `plots` and `report` draw."""
