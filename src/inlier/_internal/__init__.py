"""What every layer uses: arrays, types, checks of arguments, files."""
