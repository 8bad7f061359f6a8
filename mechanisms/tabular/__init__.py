"""Tables as files have them: names of columns, labels of cells, lines of CSV. Portal and verifier write them alike."""
