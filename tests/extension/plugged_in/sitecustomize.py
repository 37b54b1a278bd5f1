"""Every Python process that finds this folder on its path has the samples in its registries.

What a package would add with a file and a line in a registry is added here, at the start of the
process; nothing else of the project is touched.
"""

from samples import plug_in

plug_in()
