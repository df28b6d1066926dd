"""How a time is planned, taken and summed up."""
