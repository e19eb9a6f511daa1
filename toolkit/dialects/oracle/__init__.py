"""Oracle: 11.2 to 26ai."""

from toolkit.model.engines import EngineDeclaration

DECLARATION = EngineDeclaration(
    name="oracle",
    title="Oracle",
    package="toolkit.dialects.oracle",
    target="toolkit.targets.oracle",
    order=1,
)
