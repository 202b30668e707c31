"""Shared by every layer: arrays, types, argument checks, files."""
