"""Data Pump: dumps and their import, as jobs of the server."""
