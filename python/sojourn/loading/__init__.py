"""Loading what a user wrote: laws from files, classes and libraries."""
