"""The engine ``sim``: the packet simulator in the compiled core."""
