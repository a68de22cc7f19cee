"""How fine the mesh should be: one criterion per file, their combination, and the field on vertices."""
