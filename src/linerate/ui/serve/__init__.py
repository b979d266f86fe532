"""Pages over the runs folder, and over the run that is being measured."""
