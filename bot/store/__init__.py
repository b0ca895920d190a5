"""Everything that outlives the process. SQL lives here and nowhere else."""
