"""Files of every kind, made here, and opened by the real libraries in the real child process."""
