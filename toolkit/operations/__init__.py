"""The operations: what is worked on, in which stages; how it is spelled is the dialects' business.

Each package declares one operation (`DECLARATION`, light to import) and plans it (`plan`);
`toolkit.model.operations` finds them.
"""
