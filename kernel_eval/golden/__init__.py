"""What is right: goldens in FP64, runs in the candidate's own precision, their cache, and the PyTorch baseline."""
