"""Markdown as styled text: plain text and neutral spans, from which each chat platform makes what it can show."""
