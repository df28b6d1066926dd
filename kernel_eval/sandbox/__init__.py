"""The boxes in which foreign code is built and run. Policies are data; effects live at the edge.

Nothing here knows torch. Every missing part raises `SandboxIncomplete`, never a weaker box.
"""
