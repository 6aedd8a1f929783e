"""The own format: all that a Space holds as lines of JSON, out and in again. See docs/interchange.md."""

from stello_graph.interchange.jsonl.export_report import ExportReport
from stello_graph.interchange.jsonl.exporter import export_lines
from stello_graph.interchange.jsonl.restore import restore

__all__ = ["ExportReport", "export_lines", "restore"]
