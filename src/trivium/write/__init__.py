"""RECORD -> INDEXES: validate, split, analyse, embed, put."""
