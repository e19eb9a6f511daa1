"""The host itself: no database at all, so that programs are all that runs here."""

from toolkit.model.engines import EngineDeclaration, SqlClient

DECLARATION = EngineDeclaration(
    name="host",
    title="This host",
    package="toolkit.dialects.host",
    target="toolkit.targets.host",
    order=4,
    schemes=("host",),
    url_form="`host://`",
    client=SqlClient("a shell", opening=("set -e",), going_on=("set +e",), comment="#"),
    identity=(("host", "server", "database_name"),),
    embedded=True,
    dates_statistics=False,
)
