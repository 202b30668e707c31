"""With nothing given: search for groups of bad rows."""
