"""Never reached: the build fails first."""
