"""Which tools a conversation's prompt has, of however many there are."""
