"""Very many labels: each row has some candidates, and only these are looked at."""
