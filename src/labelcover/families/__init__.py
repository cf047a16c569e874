"""All members of one ensemble, trained together on one X."""
