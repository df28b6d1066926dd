from setuptools import setup

setup(name="cann_bench", version="1.0.0", packages=["cann_bench"])
