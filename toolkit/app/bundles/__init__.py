"""Experiments carried to a server without Python, and what they printed there read back."""
