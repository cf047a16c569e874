"""The labels of the training rows that are most like a row."""
