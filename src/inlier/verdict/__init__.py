"""What a fit decides: which rows are removed, by which rule, and how it ended."""
