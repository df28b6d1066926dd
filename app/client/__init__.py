"""A small client of the API: pack a folder, hand it in, wait for it."""
