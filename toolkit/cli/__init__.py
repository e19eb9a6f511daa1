"""The command line: the only place that prints, asks and exits.

Modules here import the standard library and typer only; everything else is imported inside the commands, so that
`dbatk --help` stays quick.
"""
