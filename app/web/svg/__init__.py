"""Pictures made on the server: pure functions from plain figures to SVG markup, without style attributes."""
