"""dbatk: a SQL-driven admin toolkit for DBAs."""

__version__ = "0.1.0"
