"""What any work in the background needs: jobs, questions, signs of life, the queue and supervisor of one machine."""
