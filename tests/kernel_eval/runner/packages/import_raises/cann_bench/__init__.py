raise ImportError("a library is missing")
