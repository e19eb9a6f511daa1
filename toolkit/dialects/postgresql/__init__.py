"""PostgreSQL: 14 to 18."""

from toolkit.model.engines import EngineDeclaration

DECLARATION = EngineDeclaration(
    name="postgresql",
    title="PostgreSQL",
    package="toolkit.dialects.postgresql",
    target="toolkit.targets.postgresql",
    order=2,
)
