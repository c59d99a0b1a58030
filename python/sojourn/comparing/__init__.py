"""AQMs compared: statistics over seeds, metrics, paired differences, conclusions in sentences."""
