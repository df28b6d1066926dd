"""Builds the wheel of `cann_bench`: one C++ extension with all eight operators."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Where torch is: importing it, as torch.utils.cpp_extension does, takes as long as compiling the kernels.
TORCH = Path(find_spec("torch").origin).parent
# The file that includes torch takes longest, so it goes first.
SOURCES = sorted((str(path) for path in Path("csrc").glob("*.cpp")), key=lambda path: "ops" not in path)
FLAGS = ["-O2", "-g0", "-std=c++17", "-fopenmp", "-fvisibility=hidden", "-Wall", "-Wno-psabi"]


class SideBySide(build_ext):
    """Compiles the sources side by side; setuptools alone takes them one by one."""

    def build_extensions(self):
        self.compiler.compile = partial(compile_all, self.compiler.compile)
        super().build_extensions()


def compile_all(compile_some, sources, **options):
    """Call setuptools' `compile` once per source, on as many threads as there are cores."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda source: compile_some([source], **options), sources)
        return [built for result in results for built in result]


setup(
    name="cann_bench",
    version="1.0.0",
    packages=["cann_bench"],
    ext_modules=[
        Extension(
            "cann_bench._C",
            SOURCES,
            language="c++",
            include_dirs=[str(TORCH / "include")],
            library_dirs=[str(TORCH / "lib")],
            libraries=["c10", "torch_cpu"],
            extra_compile_args=FLAGS,
            extra_link_args=["-fopenmp", "-Wl,-s"],
        )
    ],
    cmdclass={"build_ext": SideBySide},
)
