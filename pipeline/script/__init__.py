"""What the narrator says: sentences, spoken forms, and chunks under the engine's budget."""
