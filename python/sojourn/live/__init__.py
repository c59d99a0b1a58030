"""The page that simulates in a browser, served from the loopback interface."""
