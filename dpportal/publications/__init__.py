"""The life that releases and running counts share: drafts, confirmation, statement, files, publishing."""
