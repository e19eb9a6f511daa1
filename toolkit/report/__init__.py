"""Reports: records in, one text out. No database, no terminal."""

from toolkit.report.render import Format, json_text, render, render_comparison
from toolkit.report.summary import summary_text

__all__ = ["Format", "json_text", "render", "render_comparison", "summary_text"]
