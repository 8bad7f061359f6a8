"""What any download and public page needs: statement, tables, descriptions, zip."""
