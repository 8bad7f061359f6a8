"""What a field's text means under public declarations: numbers, dates, identifiers, proposals."""
