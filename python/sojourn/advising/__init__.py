"""What a set-up costs, and what would be better."""
