"""The routes of the pages, one module per page or pair of pages."""
