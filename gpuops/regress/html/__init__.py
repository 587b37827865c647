"""The report as a web page: one file that needs no network, or a folder that needs no script.

write_page("report.html", run)       # opens anywhere; its pictures are in it
write_folder("report", run)          # for Jenkins, which blocks scripts, styles in the page, and pictures in it
"""

from __future__ import annotations

from .folder import ReportFile, attachments, write_folder, write_page
from .pairs import Settings

__all__ = ["ReportFile", "Settings", "attachments", "write_folder", "write_page"]
