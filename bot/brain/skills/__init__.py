"""What the assistant knows how to do: folders with a SKILL.md."""
