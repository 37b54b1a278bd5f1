"""What people have already, read as the test set, systems and scores of a comparison.

Files of many formats, recognised by their content, alone, with gzip, in folders or in archives, and
sacreBLEU's built-in test sets. Nothing is written to disk, and no name in an archive is trusted.
`FORMATS_READ` and `FORMATS_REFUSED` of `registry` and `TREES_READ` of `folders` list what is known.
"""
