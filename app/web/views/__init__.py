"""What a page shows, made from what services give: pure functions and frozen records."""
