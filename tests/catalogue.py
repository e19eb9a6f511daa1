"""The catalogue reads that every engine answers: `sql/<engine>/<file>.sql`, with the columns named here.

Column names come back in lower case. An engine may add columns; a value it cannot know is null.
"""

from __future__ import annotations

CATALOGUE: dict[str, tuple[str, ...]] = {
    # no binds; `database_id` is equal for two connections to the same database
    "server": ("version_text", "edition", "database_name", "database_id", "user_name", "current_schema",
               "started_at", "cpu_count"),
    # :schema, :name -> the table or view of that name, one row or none
    "relation": ("schema_name", "table_name", "kind", "row_estimate", "byte_count"),
    # :schema, :name -> columns an INSERT may name, in order
    "columns": ("column_name", "data_type", "nullable", "position"),
    # :schema, :name -> indexes of the table
    "table_indexes": ("schema_name", "index_name", "table_schema", "table_name", "is_unique", "is_valid",
                      "byte_count", "definition", "column_list"),
    # :schema, :name -> the index of that name (columns as in table_indexes)
    "index": ("schema_name", "index_name", "table_schema", "table_name", "is_unique", "is_valid",
              "byte_count", "definition", "column_list"),
    # :schema -> indexes of a schema that a rebuild could take (columns as in table_indexes)
    "schema_indexes": ("schema_name", "index_name", "table_schema", "table_name", "is_unique", "is_valid",
                       "byte_count", "definition", "column_list"),
    # :schema -> ordinary tables of a schema
    "schema_tables": ("schema_name", "table_name", "row_estimate", "byte_count"),
    # :schema -> one row when the schema exists
    "schema": ("schema_name",),
    # no binds -> all schemas
    "schemas": ("schema_name",),
    # no binds -> settings that a session or a running server can be given
    "setting_names": ("name",),
    # :schema, :name -> whatever already bears the name (table, view, index, synonym ...)
    "name_in_use": ("schema_name", "object_name", "object_kind"),
    # no binds -> settings that differ from their default
    "settings": ("name", "value", "unit"),
}  # fmt: skip
