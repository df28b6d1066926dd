"""The pages people see: thin routes over the same services as the API, and what turns their data into HTML and SVG."""
