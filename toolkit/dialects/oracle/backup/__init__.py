"""RMAN: scripts from checked values, what is read around them, what stands in the way, and what the log tells.

`order` reads what is asked, `script` spells it, `client` runs it, `facts` and `judge` know the database,
`work` has the stages, `told` and `remarks` what a DBA should hear after and before; `ways` answers the neutral
operation.
"""
