"""What is worth remembering, and how near two texts are to each other."""
