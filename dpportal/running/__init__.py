"""What any work in the background needs: jobs, questions, the supervisor of processes."""
