"""The manual: what `make docs` and `make site` write.

    python -m manual docs      the committed files that the program and the records give
    python -m manual pictures  the pictures of tutorial and guides, in `docs/images`
    python -m manual site      the site, in `site/`

Nothing is written down twice: commands are asked for their options, the engine for mechanisms,
columns and invariants, what is described here is held against what is there, and what lacks a
description stops the command.

    mechanisms  pages of the catalogue, one a category
    writing     values and settings in the languages of scenario files and of Python
    everything  a scenario with every mechanism
    program     pages of commands and invariants
    results     page of results; `columns` says what recorded columns mean
    conformance page of TCP against the RFCs, and that of the scripts' language
    vectors     page of the numeric vectors
    records     the parts of README.md and docs/transports.md made of the studies' records
    pictures    drawings of the scenarios that pages show
    stub        the type stub of the package
    reference   all pages whose source is the program
    sources     the pages that are committed, and examples and notebooks as pages
    links       where links of pages lead in the site
    navigation  the order of pages
    build       the site
"""
