"""Image regression suites: pictures beside their references, verdicts, reports."""
