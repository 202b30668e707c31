"""The fit when sigma is given."""
